"""Readers and writers of streams and tables."""

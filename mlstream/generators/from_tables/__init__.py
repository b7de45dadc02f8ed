"""Streams made from a table."""

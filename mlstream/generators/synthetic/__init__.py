"""Streams drawn from known rules."""

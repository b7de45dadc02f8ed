"""Helpers of every room: files, memory, text formats, and messages of errors."""

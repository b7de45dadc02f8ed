"""Compiled loops of readers and writers: arrays and bytes in, arrays and bytes out."""

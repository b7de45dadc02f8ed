"""Streams of multi-label tasks from tables, as files with cards, and the protocol that judges learners on them."""

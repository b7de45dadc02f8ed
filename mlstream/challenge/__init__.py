"""Challenges on environments that nobody has seen: host one, take part, rank, without a leak."""

"""Ranks of learners under one decision rule, on boards of streams, drifting worlds and tables; see `__main__`."""

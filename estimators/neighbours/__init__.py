"""The window of recent rows behind nearest-neighbour learners."""

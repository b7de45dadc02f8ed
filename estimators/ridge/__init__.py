"""Ridge regression on running sums."""

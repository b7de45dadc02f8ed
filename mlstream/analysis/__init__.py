"""Numbers from records of runs: groups and means, comparisons, curves, costs, and matrices R."""

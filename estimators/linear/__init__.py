"""Linear models that learn row by row."""

"""Submissions in files: CSV, NPZ and Parquet, read into aligned probabilities."""

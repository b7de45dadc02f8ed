"""Contests of `bench_field.py`, by family."""

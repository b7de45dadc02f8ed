"""Compiled loops (Numba): arrays in, arrays out; they trust what they are given."""

"""Compiled loops of the drift detectors.

Each ``run`` takes values (n_rows, n_streams), those counted, settings (n_streams, n_settings) and the state of
each stream, changed in place; it fills signals (n_rows, n_streams).
"""

"""The code of an unknown label, beside 0 (absent) and 1 (present); NaN in public tables."""

UNKNOWN = 2

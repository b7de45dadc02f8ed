"""The version, here only: packages, records and cards name it."""

__version__ = "0.1.0"

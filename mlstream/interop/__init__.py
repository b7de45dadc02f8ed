"""Conversions to and from other libraries and services."""

"""Compiled steps of linear models."""

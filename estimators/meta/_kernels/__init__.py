"""Compiled loops of the meta-estimators."""

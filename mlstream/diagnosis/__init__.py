"""Measurements and figures that describe a stream."""

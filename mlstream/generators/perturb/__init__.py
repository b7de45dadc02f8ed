"""Streams made by perturbing other streams."""

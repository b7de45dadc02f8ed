"""Compiled passes of online ensembles."""

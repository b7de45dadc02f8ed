"""Schedules: how tasks become experiences and evaluation sets."""

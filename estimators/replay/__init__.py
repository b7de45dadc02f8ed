"""Learners that replay stored rows."""

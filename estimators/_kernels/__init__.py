"""Compiled loops that several families of learners share."""

"""Scores of submissions, in processes of their own, and the rankings."""

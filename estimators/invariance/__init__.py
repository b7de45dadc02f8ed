"""Learners made for invariance: what predicts alike in every environment should count, and nothing else."""

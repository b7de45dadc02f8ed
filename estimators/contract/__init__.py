"""The contract of a learner: base class, targets, unknown and new labels, locks, and seeds."""

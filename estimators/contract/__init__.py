"""What every learner keeps: the base class, targets, unknown and new labels, locks, seeds and types."""

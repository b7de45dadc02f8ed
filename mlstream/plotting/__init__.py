"""Pictures: one drawing for every kind of figure, used by cards, diagnosis and reporting alike."""

"""Pictures: one implementation of each kind of figure, for cards, diagnosis and reporting."""

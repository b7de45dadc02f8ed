"""The nouns: a table of rows and labels, a stream of experiences, and the card that describes it."""

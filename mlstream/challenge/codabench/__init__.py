"""A challenge as a bundle of Codabench."""

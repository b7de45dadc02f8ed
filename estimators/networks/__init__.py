"""Online neural networks, with and without regularisation towards earlier tasks."""

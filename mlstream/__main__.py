"""``python -m mlstream``."""

from mlstream.cli import main

main()

"""The command line."""

from mlstream.cli.app import app, main

__all__ = ["app", "main"]

"""The command line."""

from estimators.contract.lazy import needing

try:
    with needing("The command mlstream"):
        from mlstream.cli.app import app, main
except ModuleNotFoundError as error:
    raise SystemExit(str(error)) from None

__all__ = ["app", "main"]

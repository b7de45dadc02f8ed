"""The end of a command that was interrupted."""


class InterruptionError(Exception):
    """Ctrl-C has stopped a command; the message is what was done by then, and how to go on."""

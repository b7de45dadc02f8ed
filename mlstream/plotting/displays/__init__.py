"""The classes that users draw with."""

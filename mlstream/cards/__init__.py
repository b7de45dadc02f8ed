"""The card that describes a stream, and every form in which it is written."""

"""Tables made from logs of single events."""

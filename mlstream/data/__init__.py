"""Tables by name: the registry, downloads and readers of unusual tables."""

"""A challenge over HTTP: pages for people, and requests for programs."""

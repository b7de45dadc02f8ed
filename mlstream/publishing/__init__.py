"""Folders of streams, complete with card and hashes, for others."""

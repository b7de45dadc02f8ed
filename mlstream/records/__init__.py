"""Records of runs: their schema and where they are stored."""

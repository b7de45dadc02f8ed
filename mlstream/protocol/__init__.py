"""The evaluation protocol: test-then-train, transfer between tasks, and what both cost."""

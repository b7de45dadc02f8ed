"""Making a challenge: roles, hidden rows, the bundle for contestants."""

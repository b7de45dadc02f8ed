"""The state of a challenge in SQLite: teams, budget, submissions, boards, the end, the audit."""

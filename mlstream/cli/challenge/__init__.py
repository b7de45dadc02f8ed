"""The commands of a challenge, of its organiser and of its teams."""

"""One learner on one stream, scored and measured into one record."""

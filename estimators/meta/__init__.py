"""Meta-estimators: binary relevance, classifier chains and label combinations over any base learner."""

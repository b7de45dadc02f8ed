"""River models as estimators, and estimators as River models."""

"""Online bagging and boosting, one ensemble for each label, all in one compiled pass."""

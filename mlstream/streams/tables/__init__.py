"""Tables as they are read: columns, labels and missing values, before they become X and Y."""

"""ARFF files: the header, rows, and blocks of rows larger than memory."""

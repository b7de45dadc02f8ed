"""Pages, tables and figures from a folder of records."""

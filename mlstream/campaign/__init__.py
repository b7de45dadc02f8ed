"""Many runs, planned, resumed and distributed, into a folder of records."""

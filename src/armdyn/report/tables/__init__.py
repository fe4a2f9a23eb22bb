"""Results in words and tables, for reports, terminals and notebooks."""

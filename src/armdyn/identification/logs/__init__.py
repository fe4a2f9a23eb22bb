"""Logs: what was measured, read from the files that people have."""

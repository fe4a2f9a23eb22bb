"""Estimators: one family a file, settings in the constructor, `fit(data) -> Estimate`."""

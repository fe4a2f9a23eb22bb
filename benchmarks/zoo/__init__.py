"""Synthetic arms whose truth is known, and real ones, on which identification is scored; see `../robots.py`."""

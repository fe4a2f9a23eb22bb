"""Rigid bodies in symbols: single, composite and articulated, and how they move."""

"""Gains, and what they are worth."""

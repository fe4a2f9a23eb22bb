"""Exciting motions: motions that show an arm's parameters."""

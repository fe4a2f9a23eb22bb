"""Motions of the tip, and the joints' motions that make them."""

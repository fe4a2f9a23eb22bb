"""Motions over time, of joints and of the tip."""

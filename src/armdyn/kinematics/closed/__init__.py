"""Closed forms of inverse kinematics."""

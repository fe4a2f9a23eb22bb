"""Torques linear in parameters: tau = Y theta, in its forms."""

"""The arm that is simulated."""

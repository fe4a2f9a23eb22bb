"""The arm linearised about a motion, and what linear systems tell."""

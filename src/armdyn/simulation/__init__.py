"""Simulation: a believable arm in a closed loop, from one run to thousands."""

"""Runs: controller and plant together, in time."""

"""Rotations, rigid transforms and rigid-body inertia: numbers that describe arms."""

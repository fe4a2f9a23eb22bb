"""From graphs to machine code."""

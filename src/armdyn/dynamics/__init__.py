"""How arms respond to torques, and what torques motions need."""

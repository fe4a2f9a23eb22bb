"""Commands from an exciting motion to an identified arm."""

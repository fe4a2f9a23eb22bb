"""Commands that simulate, compare control laws and write code."""

"""Where the parts of an arm are and how they move."""

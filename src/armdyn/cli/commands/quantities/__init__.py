"""Commands that compute quantities of an arm."""

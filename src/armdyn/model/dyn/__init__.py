"""Text files of words and numbers, as of Kapadia's generator of dynamic models."""

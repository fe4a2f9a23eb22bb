"""Commands that show and convert arms, and look after the installation."""

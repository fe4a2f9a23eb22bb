"""From logs to equations, to estimates, to a model with honest confidence."""

NO_FORMULAS = True  # its text is no part of the key of compiled code

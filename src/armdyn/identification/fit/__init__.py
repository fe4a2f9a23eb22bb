"""From logs to equations, to estimates, to a model with honest confidence."""

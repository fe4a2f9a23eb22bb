"""Base parameters: the combinations of parameters that torques depend on."""

"""Laws that bear bounded errors of their model without learning them, and laws that learn over trials."""

"""Control laws: traced formulas with named parameters and state."""

"""Control laws with a fixed model."""

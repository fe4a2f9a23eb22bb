"""`armdyn demo`."""

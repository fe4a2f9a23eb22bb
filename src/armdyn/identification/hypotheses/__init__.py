"""What may be wrong with a log, before anything is fitted to it."""

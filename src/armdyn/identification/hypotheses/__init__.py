"""What may be wrong with a log, before anything is fitted to it."""

NO_FORMULAS = True  # its text is no part of the key of compiled code

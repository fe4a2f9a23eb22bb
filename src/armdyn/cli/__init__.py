"""The command line: one thin file a command, which parses, calls and prints."""

NO_FORMULAS = True  # its text is no part of the key of compiled code

"""The command line: one thin file a command, which parses, calls and prints."""

import signal

NO_FORMULAS = True  # its text is no part of the key of compiled code
INTERRUPTED = 128 + signal.SIGINT  # exit code after Ctrl-C, as shells count

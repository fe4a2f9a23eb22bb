"""The command line: one thin file a command, which parses, calls and prints."""

import signal
import time

NO_FORMULAS = True  # its text is no part of the key of compiled code
BEGIN = time.monotonic()  # of the program
INTERRUPTED = 128 + signal.SIGINT  # exit code after Ctrl-C, as shells count

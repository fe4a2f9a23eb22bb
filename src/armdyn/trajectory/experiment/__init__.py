"""From an exciting motion to files that a robot can run: approach, rehearsal, repetitions, return, senders."""

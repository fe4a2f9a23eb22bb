"""Studies: thousands of runs, designs or identifications from one file, resumable and repeatable."""

"""Studies: thousands of runs, designs or identifications from one file, resumable and repeatable."""

from armdyn.exports import export

NO_FORMULAS = True  # its text is no part of the key of compiled code

export(
    __name__,
    {
        "run": "run_study",
        "spec": "read_study",
    },
)

"""Studies: thousands of runs, designs or identifications from one file, resumable and repeatable."""

from armdyn.exports import export

export(
    __name__,
    {
        "run": "run_study",
        "spec": "read_study",
    },
)

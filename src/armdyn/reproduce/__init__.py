"""The results of the founding documents, computed again: one module a document, see `cases`."""

from armdyn.exports import export

export(
    __name__,
    {
        "cases": "reproduce",
    },
)

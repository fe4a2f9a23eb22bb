"""Reports: self-contained HTML pages, one module per kind of result."""

from armdyn.exports import export

NO_FORMULAS = True  # its text is no part of the key of compiled code

export(
    __name__,
    {
        "modes": "plot_modes",
        "registry": "report",
        "run": "plot_run",
    },
)

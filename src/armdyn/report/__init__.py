"""Reports: self-contained HTML pages, one module per kind of result."""

from armdyn.exports import export

export(
    __name__,
    {
        "modes": "plot_modes",
        "registry": "report",
        "run": "plot_run",
    },
)

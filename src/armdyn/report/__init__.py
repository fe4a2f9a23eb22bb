"""Reports: self-contained HTML pages, one module per kind of result."""

from armdyn.exports import export

export(
    __name__,
    {
        "figures.modes": "plot_modes",
        "figures.run": "plot_run",
        "registry": "report",
    },
)

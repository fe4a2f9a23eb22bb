"""The studio: an arm in the browser, with its torques, logs, controllers and exciting motions.

Names do not depend on the page: what is shown is computed by plain objects (`shapes`, `state`, `motion`, `player`,
`jobs`, `exports`), which the panels connect to viser.
"""

from armdyn.exports import export

NO_FORMULAS = True  # its text is no part of the key of compiled code

export(
    __name__,
    {
        "app": "Studio",
        "server": "address start_server stop_server",
    },
)

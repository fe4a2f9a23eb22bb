"""Arms as frozen data, and the ways to describe them."""

from armdyn.exports import export

export(
    __name__,
    {
        "arm": "Arm Link",
        "dh_frames": "as_dh dh_frames dh_parameters",
        "diagnosis": "diagnose",
        "io": "load",
        "joint": "Drive Friction Joint Limits",
        "mechanism": "Frame Spring",
        "pinocchio_bridge": "from_pinocchio to_pinocchio",
        "preprocessing": "Preprocessing",
        "tool_data": "tool_data",
    },
)

"""Where the parts of an arm are and how they move."""

from armdyn.exports import export

export(
    __name__,
    {
        "closed.form": "closed_form",
        "closed.srs": "swivel_angle",
        "forward": "forward_kinematics link_poses",
        "inverse": "inverse_kinematics",
        "jacobian": "jacobian jacobian_rate",
        "manipulability": "dexterity manipulability",
        "velocity": "add_angular_velocities point_acceleration point_velocity",
    },
)

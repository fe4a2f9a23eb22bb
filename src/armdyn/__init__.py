"""armdyn: robot arms from their description and logged motion to their model, controller and C code.

The names to begin with are here; `docs/index.md` lists them. Each folder has more (`armdyn.control.<TAB>`), and all of
these are reachable here too (`armdyn.Impedance` is `armdyn.control.Impedance`). Names are loaded when first used, so
that `import armdyn` stays fast.
"""

# A new name goes into the table in its folder's `__init__.py`; then run `python tools/write_stubs.py`.

from armdyn.exports import export

__version__ = "0.3.0.dev0"

export(
    __name__,
    {
        "model": "Arm diagnose Drive Friction Joint Limits Link load",
        "kinematics": "forward_kinematics inverse_kinematics jacobian link_poses",
        "dynamics": (
            "adaptive_regressor base_parameters coriolis_matrix forward_dynamics friction_torque "
            "gravity_torque inverse_dynamics joint_acceleration joint_torque kinetic_energy lagrange "
            "linearize mass_matrix potential_energy regressor regressor16"
        ),
        "trajectory": "excite point_to_point read_trajectory",
        "calibration": "calibrate Calibration calibration_poses check_poses read_poses",
        "identification": "check_log Fit identify identify_payload Log read_log validate",
        "control": "ComputedTorque GravityPD law_code SlotineLi TrajectoryLQR",
        "servo": "identify_servo read_servo_log",
        "simulation": "compare Plant Sensors simulate SimulationResult",
        "report": "plot_modes plot_run report",
        "study": "read_study",
        "trace": "c_code kernel latex to_jax traced",
        "errors": "ArmdynError ArmdynWarning",
    },
    subpackages="arms reproduce studio",
    aliased=(
        "calibration control dynamics identification kinematics model servo shapes simulation spatial study trace "
        "trajectory"
    ),
)

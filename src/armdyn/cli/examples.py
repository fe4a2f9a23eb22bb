"""What commands are for, in a line, and what to type: for `armdyn --help` and the end of every command's help."""

from __future__ import annotations

SHORT = {
    "demo": "The whole story on a PUMA 560, in half a minute.",
    "info": "Joints, limits and masses of an arm, and what is missing.",
    "arms": "The arms that come with armdyn.",
    "fk": "Where the tip is.",
    "ik": "Joint positions for a pose of the tip, all of them.",
    "torque": "Joint torques, and what they are made of.",
    "linearize": "M, C, K, A, B and poles about a state or a motion.",
    "regressor": "What each inertial parameter adds to the torques.",
    "base": "The parameters that torques can tell apart.",
    "excite": "An exciting motion for identification, within limits.",
    "simulate": "An arm under a controller.",
    "identify": "Inertia and friction from logs of motion and torque.",
    "validate": "How well a model explains a log.",
    "payload": "Mass, centre and inertia of what an arm carries.",
    "drive-gains": "What a unit of current is worth, from two logs.",
    "identify-servo": "Servos from commanded and measured positions.",
    "compare": "Controllers side by side, with a load they do not know.",
    "law": "A control law as C99.",
    "study": "Thousands of runs, designs or identifications.",
    "codegen": "Formulas, or a control law, as C99.",
    "convert": "An arm from one format to another, and what is lost.",
    "reproduce": "Results of the founding documents, computed again.",
    "studio": "An arm in the browser.",
    "cache": "Compiled kernels on disk.",
    "doctor": "What this machine has of what armdyn can use.",
}
# `robot.urdf` stands for a description, `log.csv` for a log of it.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("armdyn demo",),
    "info": ("armdyn info panda", "armdyn info robot.urdf --base base_link --tip tool0"),
    "arms": ("armdyn arms",),
    "fk": (
        "armdyn fk puma560 --q '0 -45 30 0 0 0' --degrees",
        "armdyn fk robot.urdf --states states.csv --out poses.csv",
    ),
    "ik": (
        "armdyn ik puma560 --position '0.5 0.1 0.4' --rpy '0 90 0' --degrees",
        "armdyn ik robot.urdf --poses poses.csv --out q.csv",
    ),
    "torque": (
        "armdyn torque puma560 --q '0 -0.7 0.4 0 0 0' --qd '1 0 0 0 0 0'",
        "armdyn torque robot.urdf --states states.csv --out tau.csv",
    ),
    "linearize": (
        "armdyn linearize planar2 --q '1.57 0'",
        "armdyn linearize robot.urdf --states states.csv --out matrices.npz",
    ),
    "regressor": (
        "armdyn regressor planar2 --q '0.5 0.3' --qdd '1 0' --reduced",
        "armdyn regressor robot.urdf --states states.csv",
    ),
    "base": ("armdyn base puma560", "armdyn base robot.urdf --gravity"),
    "excite": (
        "armdyn excite robot.urdf --duration 20 --out motion.csv --report motion.html",
        "armdyn excite robot.urdf --given log.csv --out next.yaml",
    ),
    "simulate": (
        "armdyn simulate puma560 --controller slotine-li --payload 2 --report run.html",
        "armdyn simulate robot.urdf --reference motion.csv --noise 0.001 --out run.csv",
    ),
    "identify": (
        "armdyn identify robot.urdf log.csv --check",
        "armdyn identify robot.urdf log.csv --validate other.csv --out identified.urdf --report report.html",
    ),
    "validate": ("armdyn validate identified.urdf other.csv",),
    "payload": ("armdyn payload identified.urdf carrying.csv --out loaded.urdf",),
    "drive-gains": ("armdyn drive-gains robot.urdf log.csv carrying.csv --mass 0.5",),
    "identify-servo": (
        "armdyn identify-servo robot.urdf servo.csv --out servo.urdf --report servo.html",
        "armdyn identify-servo robot.urdf servo.csv --command action --measured observation.state --units deg",
    ),
    "compare": (
        "armdyn compare robot.urdf --payload 2 --report compare.html",
        "armdyn compare robot.urdf -c pd -c 'computed torque' -c slotine-li --figure errors.svg",
        "armdyn compare robot.urdf -c pd-gravity -c computed-torque -s free -s payload",
    ),
    "law": ("armdyn law robot.urdf list", "armdyn law robot.urdf 'computed torque' --bandwidth 3 --rate 1000 --out c"),
    "study": ("armdyn study study.toml --workers 2", "armdyn study study.toml --resume"),
    "codegen": (
        "armdyn codegen robot.urdf inverse_dynamics gravity_torque --out c",
        "armdyn codegen robot.urdf inverse_dynamics --input theta --float --out c",
    ),
    "convert": ("armdyn convert robot.urdf robot.xml", "armdyn convert puma560:standard puma.csv"),
    "reproduce": ("armdyn reproduce", "armdyn reproduce lu-meng-1993 --quick"),
    "studio": ("armdyn studio robot.urdf", "armdyn studio panda --port 9000 --no-browser"),
    "cache": ("armdyn cache", "armdyn cache --clear"),
    "doctor": ("armdyn doctor",),
}


def epilog(command: str) -> str:
    """The end of a command's help: its examples, each on a line of its own."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in EXAMPLES[command])))

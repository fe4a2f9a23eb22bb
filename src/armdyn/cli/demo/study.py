"""The demo's story: excite an arm whose load differs from its description, identify it, control it, export it.

The "real" arm carries a load that its description does not mention, has more friction, and instruments with noise and
finite resolution. Everything is computed when first asked for.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.cli.options import BANDWIDTH_HZ, RATE_HZ
from armdyn.errors import ArmdynError, ignore_warnings
from armdyn.trace.llvm.processor import skip_optimisation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armdyn.control.protocol import Law
    from armdyn.identification.fit.result import Fit
    from armdyn.model.arm import Arm
    from armdyn.simulation.result import SimulationResult
    from armdyn.trajectory.excitation.excite import Excitation

PAYLOAD_KG = 2.0  # kg, beyond the flange
FRICTION_FACTOR = 1.25
MOTION_S = 8.0  # s of exciting motion
DESIGN_STEPS, TASK_STEPS = 400, 150  # of the searches for motions: not by the clock, so that all machines find the same


class DemoStudy:
    """An arm as described, and what becomes of it; its log lies in `folder`, where it is written."""

    def __init__(self, arm: Arm, folder: Path | None = None) -> None:
        self.arm, self.path = arm, folder and folder / "log.csv"

    @cached_property
    def real_arm(self) -> Arm:
        """The arm on the bench: a payload, and more friction than described."""
        joints = [
            dataclasses.replace(
                joint,
                friction=dataclasses.replace(
                    joint.friction,
                    viscous=FRICTION_FACTOR * joint.friction.viscous,
                    coulomb=FRICTION_FACTOR * joint.friction.coulomb,
                ),
            )
            for joint in self.arm.joints
        ]
        return self.arm.with_joints(joints).with_payload(PAYLOAD_KG, com=(0.0, 0.0, 0.08))

    @cached_property
    def motion(self) -> Excitation:
        """The motion that shows the parameters best."""
        return self._exciting(max_acceleration=8.0, steps=DESIGN_STEPS)

    @cached_property
    def task(self) -> Any:
        """Another motion, for validation and control."""
        return self._exciting(max_acceleration=6.0, steps=TASK_STEPS, seed=1).trajectory

    def _exciting(self, **options: Any) -> Excitation:
        from armdyn.trajectory.excitation.excite import excite

        # A period of a motion that goes on: where joints stand, friction is whatever holds them and tells nothing.
        excitation = excite(self.arm, MOTION_S, at_rest=False, **options)
        if excitation.interrupted:  # which ends the search alone
            raise KeyboardInterrupt
        return excitation

    def _measured(self, reference: Any) -> SimulationResult:
        """The real arm along a reference under PD and nominal torques, as its instruments show it."""
        from armdyn.control.laws.pd import FeedforwardPD
        from armdyn.control.theory.gains import pd_gains
        from armdyn.simulation.sensors import Sensors
        from armdyn.simulation.simulate import simulate

        gains = pd_gains(self.arm, reference(0.0)[0], BANDWIDTH_HZ)
        law = FeedforwardPD(self.arm, gains.kp, gains.kd)
        sensors = Sensors(resolution=2e-5, tau_noise=0.05)
        with skip_optimisation():
            return simulate(self.real_arm, law, reference, rate=RATE_HZ, sensors=sensors)

    @cached_property
    def log(self) -> SimulationResult:
        """The measured exciting motion."""
        return self._measured(self.motion.trajectory)

    @cached_property
    def fit(self) -> Fit:
        """Fit of the arm to the log, validated on the other motion."""
        from armdyn.identification.identify import identify

        logs = dataclasses.replace(self.log.to_log(), path=self.path), self._measured(self.task).to_log()
        # That the log does not fit the description is the point of the story.
        with ignore_warnings(), skip_optimisation():
            return identify(self.arm, logs[0], validation=logs[1])

    @cached_property
    def laws(self) -> dict[str, Law]:
        """Laws that are compared; the adaptive law starts from the description."""
        from armdyn.control.design.designs import adaptive_designs
        from armdyn.control.laws.computed_torque import ComputedTorque
        from armdyn.control.laws.pd import PD
        from armdyn.control.theory.gains import pd_gains

        motion = self.task(np.linspace(0.0, MOTION_S, 200))
        gains = pd_gains(self.arm, motion.q[0], BANDWIDTH_HZ)
        with skip_optimisation():
            adaptive = adaptive_designs(self.arm, motion, BANDWIDTH_HZ)["Slotine-Li"]
        return {
            "PD": PD(self.arm, gains.kp, gains.kd),
            "computed torque, as described": ComputedTorque.from_bandwidth(self.arm, BANDWIDTH_HZ),
            "computed torque, identified": ComputedTorque.from_bandwidth(self.fit.arm, BANDWIDTH_HZ),
            "adaptive, as described": adaptive,
        }

    @cached_property
    def tip_errors(self) -> dict[str, tuple[NDArray, NDArray]]:
        """Times and distances of the tip from where it should be [m] along the task, by law."""
        from armdyn.simulation.metrics import tip_distance
        from armdyn.simulation.simulate import simulate

        errors = {}
        for name, law in self.laws.items():
            with skip_optimisation():
                run = simulate(self.real_arm, law, self.task, rate=RATE_HZ, check=False)
            errors[name] = run.t, np.asarray(tip_distance(run))
        return errors

    @property
    def tracking(self) -> dict[str, float]:
        """RMS tip errors [m] in the second half of the task, by law."""
        return {name: float(np.sqrt(np.mean(e[t > t[-1] / 2] ** 2))) for name, (t, e) in self.tip_errors.items()}


# -- stages: each returns the line that says what was achieved -----------------------------------------------


def excite_arm(study: DemoStudy, folder: Path) -> str:
    """Design the exciting motion and save it."""
    from armdyn.trajectory.excitation.guarantees import joint_limits
    from armdyn.trajectory.save import save_trajectory

    study.arm.save(folder / f"{study.arm.name}.urdf")
    save_trajectory(study.motion.trajectory, folder / "exciting_motion.csv", rate=100.0)
    columns, held = len(study.motion.singular_values), " and ".join(joint_limits(study.motion.guarantees))
    return (
        f"designed a periodic exciting motion of {MOTION_S:.0f} s, {held}: condition number "
        f"{study.motion.condition:.0f} for {columns} parameters (exciting_motion.csv)"
    )


def measure(study: DemoStudy, folder: Path) -> str:
    """Let the simulated arm follow it and log what its instruments show."""
    study.log.save(folder / "log.csv")
    return (
        f"logged it at {RATE_HZ / 1000:g} kHz on a simulated arm with an unknown load of {PAYLOAD_KG:g} kg and "
        f"{100 * (FRICTION_FACTOR - 1):.0f} % more friction than described (log.csv)"
    )


def identify_arm(study: DemoStudy, folder: Path) -> str:
    """Identify the arm from the log, validate it on another motion, write the model."""
    fit = study.fit
    if fit.other is None:
        raise ArmdynError("the identification lost its validation log", where="demo")
    fit.arm.save(folder / f"{study.arm.name}_identified.urdf")
    return (
        f"identified it: torque error {fit.rel_error_source:.0%} as described, {fit.rel_error:.1%} now, "
        f"{fit.other.rel_error:.1%} on another motion ({study.arm.name}_identified.urdf)"
    )


def control_arm(study: DemoStudy, folder: Path) -> str:
    """Follow the other motion with four laws."""
    listed = "; ".join(f"{1e3 * error:.1f} mm by {name}" for name, error in study.tracking.items())
    return f"followed another motion; tip error, RMS: {listed}"


def export_c(study: DemoStudy, folder: Path) -> str:
    """Write the identified arm's computed torque law as C, run its self-test and time it where there is a compiler."""
    from armdyn.control.compiled import compiler, self_test, step_time
    from armdyn.control.export import law_code

    law = study.laws["computed torque, identified"]
    code = law_code(law, folder / "c", RATE_HZ, prefix=study.arm.name)
    checked = "no C compiler here, so its self-test did not run"
    if compiler() is not None:
        self_test(code)
        checked = f"compiled, its self-test passed, one step takes {1e6 * step_time(code, study.arm.n):.2f} us"
    return f"wrote the controller as C99 ({code.update.total}); {checked} (in c/)"


def show(study: DemoStudy, lines: list[str], folder: Path) -> None:
    """The picture and the report."""
    from armdyn.cli.demo.picture import draw, page
    from armdyn.files import write_whole

    draw(study, folder / "demo.png")
    write_whole(folder / "report.html", page(study, lines))

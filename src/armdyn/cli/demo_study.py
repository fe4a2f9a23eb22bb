"""The demo's main story: excite an arm that is not as described, identify it, control it, export it.

The "real" arm carries a load that its description does not mention, has more friction, and instruments with noise and
finite resolution. Everything is computed when first asked for.
"""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.errors import ArmdynError

if TYPE_CHECKING:
    from armdyn.identification.fit import Fit
    from armdyn.model.arm import Arm
    from armdyn.simulation.result import SimulationResult
    from armdyn.trajectory.excite import Excitation

PAYLOAD = 2.0  # kg, at the flange
MORE_FRICTION = 1.25
DURATION = 8.0  # s of exciting motion
BUDGET = 8.0  # s to design it in
BANDWIDTH = 3.0  # Hz of the controllers


class Study:
    """An arm as described, and what becomes of it."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm

    @cached_property
    def real_arm(self) -> Arm:
        """The arm on the bench: a payload, and more friction than described."""
        joints = [
            dataclasses.replace(
                joint,
                friction=dataclasses.replace(
                    joint.friction,
                    viscous=MORE_FRICTION * joint.friction.viscous,
                    coulomb=MORE_FRICTION * joint.friction.coulomb,
                ),
            )
            for joint in self.arm.joints
        ]
        return self.arm.with_joints(joints).with_payload(PAYLOAD, com=(0.0, 0.0, 0.08))

    @cached_property
    def motion(self) -> Excitation:
        """The motion that shows the parameters best."""
        from armdyn.trajectory.excite import excite

        return excite(self.arm, DURATION, max_acceleration=8.0, time_budget=BUDGET)

    @cached_property
    def check(self) -> Any:
        """Another motion, for validation and control."""
        from armdyn.trajectory.excite import excite

        return excite(self.arm, DURATION, max_acceleration=6.0, time_budget=BUDGET / 2, seed=1).trajectory

    def measured(self, reference: Any) -> SimulationResult:
        """A run of the real arm along a reference, as its instruments show it."""
        from armdyn.simulation.sensors import Sensors

        instruments = Sensors(resolution=2e-5, tau_noise=0.05)
        return self._run(self.arm, reference, instruments)

    def _run(self, model: Arm, reference: Any, sensors: Any = None) -> SimulationResult:
        """The real arm under feedforward and PD with the given model."""
        from armdyn.control.feedforward import FeedforwardPD
        from armdyn.control.friction_feedforward import FrictionFeedforward
        from armdyn.control.gains import pd_gains
        from armdyn.simulation.simulate import simulate

        gains = pd_gains(self.arm, reference(0.0)[0], BANDWIDTH)
        law = FrictionFeedforward(FeedforwardPD(model, gains.kp, gains.kd))
        return simulate(self.real_arm, law, reference, sensors=sensors)

    @cached_property
    def log(self) -> SimulationResult:
        """The measured exciting motion."""
        return self.measured(self.motion.trajectory)

    @cached_property
    def fit(self) -> Fit:
        """What the log says about the arm, validated on the other motion."""
        from armdyn.identification.identify import identify

        return identify(self.arm, self.log.to_log(), validation=self.measured(self.check).to_log())

    @cached_property
    def tracking(self) -> tuple[float, float]:
        """Tip errors along the other motion, rms [m]: with the model as described, and as identified."""
        import numpy as np

        from armdyn.kinematics.forward import forward_kinematics

        runs = [self._run(model, self.check) for model in (self.arm, self.fit.arm)]
        tips = [forward_kinematics(self.arm, np.stack([run.q, self.check(run.t)[0]]))[..., :3, 3] for run in runs]
        before, after = (float(np.sqrt(np.mean(np.sum((p[0] - p[1]) ** 2, axis=-1)))) for p in tips)
        return before, after


# -- stages: each returns the line that says what was achieved -----------------------------------------------


def excite_arm(study: Study, folder: Path) -> str:
    """Design the exciting motion and save it."""
    from armdyn.trajectory.save import save_trajectory

    save_trajectory(study.motion.trajectory, folder / "exciting_motion.csv", rate=100.0)
    columns = len(study.motion.singular_values)
    return (
        f"designed an exciting motion of {DURATION:.0f} s within all limits: condition number "
        f"{study.motion.condition:.0f} for {columns} parameters (exciting_motion.csv)"
    )


def measure(study: Study, folder: Path) -> str:
    """Let the simulated arm follow it and log what its instruments show."""
    study.log.save(folder / "log.csv")
    return (
        f"logged it at 1 kHz on a simulated arm with an unknown load of {PAYLOAD:g} kg and "
        f"{100 * (MORE_FRICTION - 1):.0f} % more friction than described (log.csv)"
    )


def identify_arm(study: Study, folder: Path) -> str:
    """Identify the arm from the log, validate it on another motion, write the report and the model."""
    from armdyn.report.registry import report

    fit = study.fit
    other = fit.validate(study.measured(study.check).to_log())
    report(fit, folder / "report.html")
    fit.arm.save(folder / f"{study.arm.name}_identified.urdf")
    return (
        f"identified it: torque error {100 * fit.rel_error:.1f} % on the log, {100 * other.rel_error:.1f} % on another "
        f"motion (report.html, {study.arm.name}_identified.urdf)"
    )


def control(study: Study, folder: Path) -> str:
    """Follow the other motion with feedforward from both models."""
    before, after = (1e3 * x for x in study.tracking)
    return (
        f"followed another motion with feedforward and PD: tip error {before:.1f} mm rms with the model as described, "
        f"{after:.1f} mm with the identified one"
    )


def export_c(study: Study, folder: Path) -> str:
    """Write inverse dynamics of the identified arm as C, and run its self-test where there is a compiler."""
    from armdyn.dynamics.newton_euler import inverse_dynamics
    from armdyn.trace.c_code import c_code

    code = c_code(inverse_dynamics, study.fit.arm, folder / "c", prefix=study.arm.name)
    counts = next(iter(code.counts.values()))
    passed = _self_test(code.source, code.selftest)
    checked = "compiled, and its self-test passed" if passed else "no C compiler here, so its self-test did not run"
    return (
        f"wrote its inverse dynamics as C99 with {counts.multiplications} multiplications and {counts.additions} "
        f"additions; {checked} (c/)"
    )


def _self_test(source: Path, selftest: Path) -> bool:
    """Compile generated C and run its self-test; False without a compiler, an error if the test fails."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "selftest")
        command = [compiler, "-std=c99", "-O2", str(source), str(selftest), "-lm", "-o", program]
        for step in (command, [program]):
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode:
                raise ArmdynError(f"generated C: {step[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return True

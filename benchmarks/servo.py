"""Servos from positions, beside `mujoco.sysid` on the same log, in one process: `python benchmarks/servo.py`.

Both get the log of tests/servo (20 s at 50 Hz of five joints, made by MuJoCo). `mujoco.sysid` seeks stiffness, damping,
armature and friction from a guess that is half of the truth, in MuJoCo's own model, with the commands delayed by the
true delay; armdyn is told nothing, seeks delays as well, and says how sure each number is. Needs `mujoco[sysid]`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.servo import truth

import armdyn

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
H = 0.001


def by_armdyn(log: armdyn.ServoLog) -> tuple[np.ndarray, float]:
    """The ratios (4, 5) and the time it took, kernels compiled before."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "arm.xml"
        path.write_text(truth.XML)
        arm = armdyn.load(path)
        begin = time.perf_counter()
        armdyn.identify_servo(arm, log)
        first = time.perf_counter() - begin
        begin, worked = time.perf_counter(), time.process_time()
        fit = armdyn.identify_servo(arm, log)
        took, worked = time.perf_counter() - begin, time.process_time() - worked
    print(
        f"armdyn: {took:.1f} s ({worked:.1f} s of the processor), the first time for this arm {first:.1f} s", end="; "
    )
    print(f"replay {1e3 * fit.rms.mean():.2f} mrad")
    return np.array([fit.ratios[name] for name in ("compliance", "inertia", "damping", "coulomb")]), took


def further_terms(t: np.ndarray) -> None:
    """Fits to logs of servos that have more than the plain terms: processor time, and the terms that were chosen."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "arm.xml"
        path.write_text(truth.XML)
        arm = armdyn.load(path)
        every = {"stribeck": 0.5, "load": 0.1, "dead_band": 0.003}
        for more in (*({name: value} for name, value in every.items()), every):
            rng = np.random.default_rng(2)
            servo, command = truth.truth(rng, **more), truth.commands(rng, t)
            log = armdyn.ServoLog(t, truth.record(servo, t, command), command)
            begin = time.process_time()
            fit = armdyn.identify_servo(arm, log)
            print(f"  with {' and '.join(more)}: {time.process_time() - begin:.1f} s of the processor, {fit.structure}")


def by_sysid(servo: truth.Truth, log: armdyn.ServoLog) -> tuple[np.ndarray, float] | None:
    """The same by `mujoco.sysid`; None where it is not installed."""
    from mujoco import sysid

    if not hasattr(sysid, "optimize"):
        print("mujoco.sysid: not installed (pip install 'mujoco[sysid]'); not compared")
        return None
    spec = mujoco.MjSpec.from_string(truth.XML)
    for name in truth.JOINTS:
        spec.add_sensor(
            name=name, type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=name
        )
    parameters = sysid.ParameterDict()
    for j, name in enumerate(truth.JOINTS):
        true = (servo.kp[j], servo.kv[j] + servo.viscous[j], servo.armature[j], servo.coulomb[j])
        for kind, value in zip(("kp", "kv", "armature", "frictionloss"), true, strict=True):
            parameters.add(
                sysid.Parameter(f"{name}_{kind}", nominal=0.5 * value, min_value=0.05 * value, max_value=5 * value,
                                modifier=lambda s, p, n=name, k=kind: change(s, n, k, p.value[0]))
            )  # fmt: skip
    model = spec.compile()
    fine = np.arange(0, log.t[-1] + H, H)
    sent = log.command[np.clip(np.searchsorted(log.t, fine - servo.delay + 1e-9, side="right") - 1, 0, None)]
    state = sysid.create_initial_state(model, log.q[0], np.zeros(5), np.zeros(0))
    measured = sysid.TimeSeries.from_names(log.t, log.q, model)
    sequences = sysid.ModelSequences("arm", spec, "log", state, sysid.TimeSeries(fine, sent), measured)
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    begin = time.perf_counter()
    found, _ = sysid.optimize(initial_params=parameters, residual_fn=residual, optimizer="mujoco", verbose=False)
    took = time.perf_counter() - begin
    print(f"mujoco.sysid: {took:.1f} s")
    kp, kv, armature, friction = (
        np.array([found[f"{name}_{kind}"].value[0] for name in truth.JOINTS])
        for kind in ("kp", "kv", "armature", "frictionloss")
    )
    return np.array([1 / kp, armature / kp, kv / kp, friction / kp]), took


def change(spec: mujoco.MjSpec, name: str, kind: str, value: float) -> None:
    """Set one number of a joint or of its servo."""
    if kind == "kp":
        spec.actuator(name).gainprm[0], spec.actuator(name).biasprm[1] = value, -value
    elif kind == "kv":
        spec.actuator(name).biasprm[2] = -value
    else:
        setattr(spec.joint(name), kind, value)


def main() -> None:
    """Print times and median errors."""
    rng = np.random.default_rng(0)
    servo, t = truth.truth(rng), np.arange(0, 6.0 if SMALL else 20.0, 0.02)
    command = truth.commands(rng, t)
    log = armdyn.ServoLog(t, truth.record(servo, t, command), command)
    true = np.array([np.ones(5), servo.armature, servo.kv + servo.viscous, servo.coulomb]) / servo.kp
    times = {}
    for name, result in (("armdyn", by_armdyn(log)), ("mujoco.sysid", None if SMALL else by_sysid(servo, log))):
        if result is None:
            continue
        errors = 100 * np.median(np.abs(result[0] / true - 1), axis=1)
        times[name] = result[1]
        labels = ("1/kp", "Ia/kp", "(kd + fv)/kp", "fc/kp")
        told = ", ".join(f"{label} {error:.1f}" for label, error in zip(labels, errors, strict=True))
        print(f"  {name}, median errors in %: {told}")
    if not SMALL:
        further_terms(t)
    if len(times) == 2:
        print(f"armdyn takes {times['armdyn'] / times['mujoco.sysid']:.2f} of the time of mujoco.sysid")


if __name__ == "__main__":
    main()

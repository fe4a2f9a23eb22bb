"""Measured logs of real arms, where they lie beside the checkout (`../shared/data`, with their sources)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import armdyn
from armdyn import Arm
from zoo.cases import Case
from zoo.sensors import Table

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = SHARED / "data"


def load(path: str) -> Arm:
    if path.endswith(".json"):
        given, name = json.loads((SHARED / path).read_text()), Path(path).stem
        return Arm.from_dh(given["rows"], convention=given["convention"], gravity=given["gravity"], name=name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return armdyn.load(SHARED / path)


def read(path: str, first: float = 0.0, last: float = 1.0) -> Table:
    z = np.load(DATA / path)
    names = ("times", "positions", "torques", "velocities") if "times" in z else ("t", "q", "tau", "dq")
    k = slice(int(first * len(z[names[0]])), int(last * len(z[names[0]])))
    return Table(*(z[name][k].astype(float) if name in z else None for name in names))


def real_cases() -> Iterator[Case]:
    """All tasks: part of a log predicts its rest, or logs another log."""
    if not DATA.exists():
        return
    ur, panda = "ur10_unisa/ur10_exciting_trajectory.npz", "panda_gaz2019/panda_traj1.npz"
    for name, model, path in (
        ("Panda", "models/panda/panda_arm.urdf", panda),
        ("UR10", "models/ur/ur10_robot.urdf", ur),
        ("Panda 30 Hz", "data/panda_30hz/panda_u.json", "panda_30hz/panda_u.npz"),
        ("double pendulum", "data/double_pendulum/pendulum.json", "double_pendulum/pendulum.npz"),
    ):
        yield _case(f"{name} 60/40", load(model), [read(path, 0, 0.6)], read(path, 0.6, 1))
    lwr = load("models/kuka_lwr4/kuka_lwr4.urdf")
    slow = [read(f"kuka_lwr4/measurements_{k}.npz") for k in (1, 2)]
    yield _case("LWR4 1>2", lwr, slow[:1], slow[1])
    yield _case("LWR4 2>1", lwr, slow[1:], slow[0])
    ic = [read(f"ic_arm/ic_{k}.npz") for k in (1, 2, 3)]
    for left in range(3):
        others = [k for k in range(3) if k != left]
        name = f"IC arm {'+'.join(str(k + 1) for k in others)}>{left + 1}"
        yield _case(name, load("data/ic_arm/ic.urdf"), [ic[k] for k in others], ic[left])
    x = {k: read(f"xmate7/xmate7_{k}.npz") for k in (1, 3)}
    for kind in ("urdf", "json"):
        arm, said = load(f"data/xmate7/xmate7.{kind}"), "URDF" if kind == "urdf" else "DH"
        yield _case(f"xMate7 {said} 3>1", arm, [x[3]], x[1])
        yield _case(f"xMate7 {said} 1>3", arm, [x[1]], x[3])
    yield from _strangers()
    z = np.loadtxt(DATA / "emps/emps_train.csv", delimiter=",", skiprows=1)
    k = int(0.6 * len(z))
    slide = Arm.from_dh(
        [dict(kind="P", a=0, alpha=0, d=0, theta=0)], convention="standard", gravity=[0, -9.81, 0], name="EMPS"
    )
    emps = [Table(part[:, 0], part[:, 1:2], 35.1507 * part[:, 3:4], None) for part in (z[:k], z[k:])]
    yield _case("EMPS 60/40", slide, emps[:1], emps[1])


def _strangers() -> Iterator[Case]:
    """An industrial arm and a current-driven cobot, each log left out once; an arm on a wall; a cable-driven one."""
    for said, folder in (("XB4", "xb4"), ("cobot", "shelectric")):
        logs = [read(f"{folder}/{folder}_{k}.npz") for k in (1, 2, 3)]
        for left in range(3):
            others = [k for k in range(3) if k != left]
            name = f"{said} {'+'.join(str(k + 1) for k in others)}>{left + 1}"
            yield _case(name, load(f"data/{folder}/{folder}.json"), [logs[k] for k in others], logs[left])
    wall = load("data/ar5/ar5.urdf").with_gravity([9.81, 0, 0])
    yield _case("AR5 60/40", wall, [read("ar5/ar5.npz", 0, 0.6)], read("ar5/ar5.npz", 0.6, 1))
    psm = load("data/psm/psm.json")
    yield _case("PSM 60/40", psm, [read("psm/psm_1.npz", 0, 0.6)], read("psm/psm_1.npz", 0.6, 1))


def _case(name: str, arm: Arm, train: list[Table], test: Table) -> Case:
    return Case(name, arm, tuple(train), test, dict(real=True, family=name.split()[0], n=arm.n))

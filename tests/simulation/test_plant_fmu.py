"""Plants as FMUs: valid for FMPy, compiled from their sources, and with the law's FMU the same loop as `simulate`."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.control.fmu import law_fmu
from armdyn.errors import ArmdynError
from armdyn.model.joint import Drive, Friction
from armdyn.simulation import Sway, plant_fmu

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
RATE = 500.0


def rubbing():
    """An arm with dry friction and rotors."""
    arm, friction, drive = armdyn.arms.planar2(), Friction(viscous=0.4, coulomb=1.5), Drive(rotor_inertia=0.1)
    return arm.with_joints(replace(joint, friction=friction, drive=drive) for joint in arm.joints)


class Slave:
    """An FMU as FMPy runs it."""

    def __init__(self, file, folder, **start):
        from fmpy.fmi2 import FMU2Slave

        description = fmpy.read_model_description(str(file), validate=True)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=fmpy.extract(str(file), unzipdir=str(folder)),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="slave",
        )
        self.fmu.instantiate()
        self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.set(**start)
        self.fmu.exitInitializationMode()

    def set(self, **rows):
        for name, row in rows.items():
            references = [self.references[f"{name}[{i + 1}]"] for i in range(len(row))]
            self.fmu.setReal(references, [float(x) for x in row])

    def get(self, name, n):
        return np.array(self.fmu.getReal([self.references[f"{name}[{i + 1}]"] for i in range(n)]))

    def step(self, k):
        self.fmu.doStep(currentCommunicationPoint=k / RATE, communicationStepSize=1 / RATE)


@pytest.fixture(scope="module", params=["planar2", "dry friction and rotors", "saturated, with lag", "palletizer"])
def plant(request):
    if request.param == "planar2":
        return armdyn.Plant(armdyn.arms.planar2())
    if request.param == "dry friction and rotors":
        return armdyn.Plant(rubbing())
    if request.param == "palletizer":  # a parallelogram with a balancer
        return armdyn.Plant(armdyn.arms.palletizer())
    return armdyn.Plant(armdyn.arms.planar2(), saturation=[40.0, 8.0], motor_lag=0.01)


@pytest.fixture(scope="module")
def file(plant, tmp_path_factory):
    return plant_fmu(plant, tmp_path_factory.mktemp("fmu") / "plant.fmu", RATE)


def test_fmpy_finds_nothing_wrong(file):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(file)) == []


def test_law_and_plant_as_fmus_are_the_loop_of_simulate(plant, file, tmp_path):
    arm, n = plant.arm, plant.arm.n
    law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    motion = Sway.within(arm, 1.0)
    want = armdyn.simulate(plant, law, motion, rate=RATE)
    t = np.arange(round(RATE)) / RATE
    ref = motion(t)
    body = Slave(file, tmp_path / "plant", q0=ref.q[0], qd0=ref.qd[0])
    brain = Slave(law_fmu(law, tmp_path / "law.fmu", RATE), tmp_path / "law")
    q, tau = [], []
    for k in range(len(t)):
        q.append(body.get("q", n))
        brain.set(q=q[-1], qd=body.get("qd", n), q_ref=ref.q[k], qd_ref=ref.qd[k], qdd_ref=ref.qdd[k])
        brain.step(k)
        tau.append(brain.get("tau", n))
        body.set(tau=tau[-1])
        body.step(k)
    # The same integrator and step, one text compiled twice.
    np.testing.assert_allclose(q, want.q[: len(q)], rtol=0, atol=1e-12)
    assert np.ptp(want.q, axis=0).min() > 0.1


def test_a_stuck_joint_rests_to_the_last_bit(tmp_path):
    arm = rubbing()
    hold = armdyn.gravity_torque(arm, [0.3, 0.2])
    body = Slave(plant_fmu(arm, tmp_path / "arm.fmu", RATE, q0=[0.3, 0.2]), tmp_path / "x")
    for k in range(20):
        body.set(tau=hold + np.array([1.0, -1.0]))  # below the breakaway torque
        body.step(k)
    np.testing.assert_array_equal(body.get("q", 2), [0.3, 0.2])
    body.set(tau=hold + np.array([2.0, 0.0]))
    body.step(20)
    assert body.get("qd", 2)[0] > 0


def test_position_servos_take_positions(tmp_path):
    arm, start = rubbing(), np.array([0.3, 0.2])
    plant = armdyn.Plant(arm, servo=armdyn.PositionServo([900.0, 300.0], 20.0))
    want = armdyn.simulate(plant, lambda t, q, qd, ref: start + 0.2, start, duration=0.2, rate=RATE)
    body = Slave(plant_fmu(plant, tmp_path / "arm.fmu", RATE, q0=start), tmp_path / "x")
    q = []
    for k in range(100):
        q.append(body.get("q", 2))
        body.set(q_command=start + 0.2)
        body.step(k)
    np.testing.assert_allclose(q, want.q[:100], rtol=0, atol=1e-12)
    assert q[-1][1] > 0.25


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_sources_compile_without_a_warning(file, tmp_path, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    folder = Path(fmpy.extract(str(file), unzipdir=str(tmp_path))) / "sources"
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC", "-o", "plant.so")
    subprocess.run([compiler, *strict, "fmu.c", "plant.c", "-lm"], cwd=folder, check=True)


def test_fmpy_compiles_and_simulates_it(tmp_path):
    build = pytest.importorskip("fmpy.build")
    if not shutil.which("cmake"):
        pytest.skip("FMPy compiles by cmake, which is not installed")
    file = plant_fmu(armdyn.Plant(rubbing()), tmp_path / "plant.fmu", RATE)
    folder = Path(fmpy.extract(str(file), unzipdir=str(tmp_path / "x")))
    (library,) = (folder / "binaries" / "linux64").iterdir()
    library.unlink()
    build.build_platform_binary(folder)
    rows = fmpy.simulate_fmu(str(folder), stop_time=0.1, step_size=1 / RATE, output_interval=1 / RATE)
    assert len(rows) == 51
    assert np.isfinite(rows["q[1]"]).all()


def test_what_cannot_be_in_it_is_named(tmp_path):
    arm = armdyn.arms.planar2()
    with raises(ArmdynError, names=("a wrench",), remedy="leave it out of the plant"):
        plant_fmu(armdyn.Plant(arm, wrench=np.ones(6)), tmp_path / "a.fmu")
    with raises(ArmdynError, names=("a batch of runs",)):
        plant_fmu(armdyn.Plant(arm, motor_lag=np.full((3, 2), 0.01)), tmp_path / "a.fmu")
    with raises(ArmdynError, expected="a file that ends in .fmu"):
        plant_fmu(arm, tmp_path / "a.zip")
    with raises(ArmdynError, expected="q0 of shape (2,)", got="(1,)"):
        plant_fmu(arm, tmp_path / "a.fmu", q0=[0.0])


def test_the_command_writes_plants_and_laws(tmp_path):
    from armdyn.cli.app import app

    for name, more in (("plant", ()), ("law", ("--law", "pd"))):
        done = CliRunner().invoke(app, ["codegen", "planar2", "--fmu", str(tmp_path / f"{name}.fmu"), *more])
        assert done.exit_code == 0, done.output
        names = {v.name for v in fmpy.read_model_description(str(tmp_path / f"{name}.fmu")).modelVariables}
        assert ("q0[1]" in names) == (name == "plant")
    done = CliRunner().invoke(app, ["codegen", "planar2", "mass_matrix", "--fmu", str(tmp_path / "x.fmu")])
    assert done.exit_code != 0

"""Laws as FMUs: valid for FMPy, compiled from their sources, and the same closed loop as `simulate`."""

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.fmu import law_fmu
from armdyn.errors import ArmdynError
from armdyn.simulation import Sway

fmpy = pytest.importorskip("fmpy")
RATE = 500.0


@pytest.fixture(scope="module")
def law():
    return armdyn.ComputedTorque.from_bandwidth(armdyn.arms.planar2(), 3.0)


@pytest.fixture(scope="module")
def file(law, tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    return law_fmu(law, tmp_path_factory.mktemp("fmu") / "controller.fmu", RATE)


class Master:
    """A controller for `simulate` that asks the FMU."""

    def __init__(self, file, folder):
        from fmpy.fmi2 import FMU2Slave

        description = fmpy.read_model_description(str(file), validate=True)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=fmpy.extract(str(file), unzipdir=str(folder)),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="law",
        )
        self.fmu.instantiate()
        self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def __call__(self, t, q, qd, ref):
        given = {"q": q, "qd": qd, "q_ref": ref.q, "qd_ref": ref.qd, "qdd_ref": ref.qdd}
        values = {f"{name}[{i + 1}]": float(x) for name, row in given.items() for i, x in enumerate(row)}
        self.fmu.setReal([self.references[name] for name in values], list(values.values()))
        self.fmu.doStep(currentCommunicationPoint=t, communicationStepSize=1 / RATE)
        return np.array(self.fmu.getReal([self.references[f"tau[{i + 1}]"] for i in range(len(q))]))


def test_fmpy_finds_nothing_wrong(file):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(file)) == []


def test_the_closed_loop_is_that_of_simulate(law, file, tmp_path):
    arm = law.arm
    motion = Sway.within(arm, 1.0)
    want = armdyn.simulate(arm, law, motion, rate=RATE)
    got = armdyn.simulate(arm, Master(file, tmp_path), motion, rate=RATE)
    np.testing.assert_allclose(got.q, want.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got.tau, want.tau, rtol=0, atol=1e-10)  # torques of some 10 N m, one text compiled twice


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_sources_compile_without_a_warning(file, tmp_path, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    folder = Path(fmpy.extract(str(file), unzipdir=str(tmp_path))) / "sources"
    tree = ElementTree.parse(folder.parent / "modelDescription.xml")
    listed = [element.get("name") for element in tree.iter("File")]
    assert sorted(listed) == sorted(path.name for path in folder.glob("*.c"))
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC", "-o", "law.so")
    subprocess.run([compiler, *strict, *listed, "-lm"], cwd=folder, check=True)


def test_steps_that_are_no_whole_periods_are_rejected(file, tmp_path):
    master = Master(file, tmp_path)
    with pytest.raises(fmpy.fmi1.FMICallException):
        master.fmu.doStep(currentCommunicationPoint=0.0, communicationStepSize=0.5 / RATE)


def test_other_endings_are_rejected(law, tmp_path):
    with raises(ArmdynError, expected="a file that ends in .fmu"):
        law_fmu(law, tmp_path / "law.zip", RATE)

"""Laws as C: self-tests pass, and a closed loop through the C code is the one through Python."""

import dataclasses
import inspect
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.adaptive.modified_slotine_li import ModifiedSlotineLi
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.control.design.designs import designs
from armdyn.control.export import law_code
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.guarded import Guarded
from armdyn.control.laws.integral import VelocityPID, pid
from armdyn.control.laws.momentum import MomentumObserver
from armdyn.control.laws.pd import PD
from armdyn.control.laws.tip_space import Impedance
from armdyn.control.laws.wrapped import FrictionFeedforward
from armdyn.control.protocol import Law
from armdyn.errors import ArmdynError
from armdyn.simulation.compare import Sway
from armdyn.simulation.simulate import simulate

RATE = 500.0
# Laws whose memory of the torques is told of limits; 30 N m is less than the arm's weight asks for.
GUARDED = ("PID", "computed torque + observer", "Craig")
cc = shutil.which("cc")
needs_compiler = pytest.mark.skipif(cc is None, reason="needs a C compiler")


@cache
def laws():
    """Every design, and what designs do not show, of the planar arm."""
    arm = armdyn.arms.planar2()
    unknowns = adapt(armdyn.unknown_mass(arm, (0, 0, 0)), ("viscous",))
    gain = np.array([2.0] + [1.0] * arm.n)
    sway = Sway.within(arm, 4.0)
    every = designs(arm, sway(np.linspace(0.0, 4.0, 50)), 2.0, RATE)
    return {
        **every,
        **{f"guarded {name}": Guarded(every[name], limit=30.0) for name in GUARDED},
        "limited PID": pid(arm, 40.0, 20.0, 8.0, limit=60.0),
        "PID in velocity form": VelocityPID(arm, 40.0, 20.0, 8.0, limit=60.0),
        "guarded PID in velocity form": Guarded(VelocityPID(arm, 40.0, 20.0, 8.0), limit=30.0),
        "guarded": Guarded(FrictionFeedforward(PD(arm, 40.0, 8.0)), limit=80.0),
        "bounded Slotine-Li": SlotineLi(unknowns, 8.0, 20.0, gain, lower=-5.0),
        "Lu-Meng with K": ModifiedSlotineLi(unknowns, 8.0, gain, k=20.0),
        "stiff impedance": Impedance(arm, 200.0, 40.0, task="position"),
    }


def test_every_law_is_exported():
    """A law that is neither among the designs nor above would not be compared with its C code."""
    import importlib
    import pkgutil

    import armdyn.control

    for module in pkgutil.walk_packages(armdyn.control.__path__, "armdyn.control."):
        importlib.import_module(module.name)
    every, seen = [Law], set()
    while every:
        kind = every.pop()
        if kind.__module__.startswith("armdyn.control."):
            seen.add(kind)
        every += kind.__subclasses__()
    bases = {kind for kind in seen if kind.__subclasses__() and not dataclasses.is_dataclass(kind)}
    bases |= {kind for kind in seen if inspect.isabstract(kind)}
    exported = set()
    for law in laws().values():
        while law is not None:
            exported.add(type(law))
            law = getattr(law, "law", None)
    # Those that need a wrist sensor, positions alone or a motion of their own have their C tested beside them.
    beside = {"force", "velocity", "path_scaling", "learning", "elastic", "position_commands"}
    rest = {
        kind
        for kind in seen - bases - exported - {MomentumObserver}
        if kind.__module__.rpartition(".")[2] not in beside
    }
    assert rest == set()


@needs_compiler
@pytest.mark.parametrize("name", laws())
@pytest.mark.by_day(8)
def test_c_is_the_same_closed_loop(name, planar, swing, tmp_path, in_c):
    law = laws()[name]
    reference = swing([0.4, -0.3], [1.0, 0.7], 0.2)
    plant = planar.with_payload(0.5)
    options = {"rate": RATE, "q0": [0.05, -0.05], "check": False}
    t = np.arange(100) / RATE
    motion = armdyn.trajectory.protocol.JointMotion(*(np.asarray(x) for x in reference(t)))
    controller = in_c(law, RATE, tmp_path, law.channels(t, motion))
    python = simulate(plant, law, reference, native=False, **options)
    c = simulate(plant, controller, reference, **options)
    assert np.abs(c.q - python.q).max() < 1e-12
    # The C has no gains for the instant after the last period.
    assert np.abs(c.tau - python.tau)[:-1].max() < 1e-10 * np.abs(python.tau).max()


def test_c_code_takes_a_law_with_its_rate(tmp_path):
    law = PD(armdyn.arms.planar2(), 40.0, 8.0)
    code = armdyn.c_code(law, tmp_path / "one", rate=RATE, prefix="pd")
    same = law_code(law, tmp_path / "two", RATE, prefix="pd")
    assert code.source.read_text() == same.source.read_text()
    text = code.update.header.read_text()
    assert "void pd_update(" in text
    assert "update_update" not in text
    with raises(ArmdynError, expected="functions, an arm and a folder, or a law, a folder and its rate="):
        armdyn.c_code(law, tmp_path)


@needs_compiler
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_selftests_pass(dtype, tmp_path):
    law = laws()["bounded Slotine-Li"]
    code = law_code(law, tmp_path, RATE, prefix="arm", dtype=dtype)
    program = tmp_path / "selftest"
    sources = sorted(tmp_path.glob("*.c"))  # a folder of its own holds one program
    assert sources == sorted([*code.sources, code.selftest])
    subprocess.run([cc, "-std=c99", "-O2", *map(str, sources), "-lm", "-o", str(program)], check=True)
    assert subprocess.run([str(program)], capture_output=True).returncode == 0


@needs_compiler
@pytest.mark.parametrize("name", ["computed torque", "bounded Slotine-Li", "guarded"])
def test_steps_have_no_undefined_behaviour(name, tmp_path):
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    program = str(tmp_path / "selftest")
    probe = [cc, "-x", "c", *sanitize, "-", "-o", program]
    if subprocess.run(probe, input="int main(void) { return 0; }", text=True, capture_output=True).returncode:
        pytest.skip(f"{cc} has no sanitizers here")
    code = law_code(laws()[name], tmp_path, RATE, prefix="arm")
    sources = map(str, [*code.sources, code.selftest])
    subprocess.run([cc, "-std=c99", "-g", *sanitize, *sources, "-lm", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_compiler
def test_gains_can_stay_arguments(planar, tmp_path):
    code = law_code(PD(planar, 40.0, 8.0), tmp_path, RATE, prefix="pd", inputs=["kp"])
    assert "const double kp[2]" in code.header.read_text()
    program = tmp_path / "selftest"
    subprocess.run(
        [cc, "-std=c99", "-O2", *map(str, [*code.sources, code.selftest]), "-lm", "-o", str(program)], check=True
    )
    assert subprocess.run([str(program)], capture_output=True).returncode == 0


def test_code_allocates_nothing(tmp_path):
    code = law_code(laws()["Craig"], tmp_path, RATE)
    text = "".join(path.read_text() for path in (*code.sources, code.header, code.update.header))
    assert not [
        word for word in ("malloc", "static ", "stdlib", "alloca(") if word in text.replace("static inline", "")
    ]
    assert "singular[1];" in text
    assert code.source.name == "planar2_craig.c"


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda arm, d: law_code("pd", d, 100), {"expected": "a control law", "got": "'pd'"}),
        (lambda arm, d: law_code(PD(arm, 1.0, 1.0), d, 0), {"expected": "a rate > 0 in Hz", "got": "0"}),
        (lambda arm, d: law_code(PD(arm, np.ones((3, 2)), 1.0), d, 100), {"cause": "kp is a batch of shape (3, 2)"}),
        (
            lambda arm, d: law_code(PD(arm, 1.0, 1.0), d, 100, inputs=["kq"]),
            {"names": ("kq",), "expected": "dt or kd or kp"},
        ),
        (
            lambda arm, d: law_code(PD(arm, 1.0, 1.0), d, 100, prefix="7"),
            {"expected": "a prefix of letters, digits and underscores that starts with a letter", "got": "'7_update'"},
        ),
    ],
)
def test_nonsense_is_rejected(planar, tmp_path, make, parts):
    with raises(ArmdynError, **parts):
        make(planar, tmp_path)


def test_a_header_identifies_the_controller(tmp_path):
    """Which laws with which settings, at which rate, of which arm; fast-math is an error."""
    arm = armdyn.arms.planar2()
    law = Guarded(armdyn.ComputedTorque(arm, [40.0, 50.0], 8.0), limit=80.0, patience=3)
    code = armdyn.law_code(law, tmp_path, 500.0, prefix="ct")
    header = code.header.read_text()
    for text in ("law: Guarded", "patience = 3", "largest = 80", "law: ComputedTorque", "kp = 40 50", "kd = 8",
                 "model = full", "rate: 500 Hz", f"arm: planar2, {arm.fingerprint}", armdyn.__version__):  # fmt: skip
        assert text in header
    assert "ct_step(&state, q, qd, q_ref, qd_ref, qdd_ref, tau);  each 0.002 s" in header
    assert "array_like" not in header  # of Python
    assert ">>>" not in header
    assert "__FAST_MATH__" in code.source.read_text()


@needs_compiler
def test_c_knows_coupled_drives(planar, swing, tmp_path, in_c):
    """Friction and rotors at a shaft that turns with both joints: the C is the loop through Python."""
    rows, friction = ((1.0, 0.0), (-0.6, 1.0)), armdyn.Friction(2.0, 3.0, load=0.1)
    arm = planar.with_joints(
        dataclasses.replace(joint, friction=friction, drive=armdyn.Drive(0.05, coupling=row))
        for joint, row in zip(planar.joints, rows, strict=True)
    )
    reference, options = swing([0.4, -0.3], [1.0, 0.7], 0.4), {"rate": RATE, "q0": [0.05, -0.05], "check": False}
    for law in (ComputedTorque(arm, 100.0, 20.0), SlotineLi(adapt(arm, ("viscous", "coulomb")), 8.0, 20.0, 1.0)):
        prefix = type(law).__name__.lower()
        controller = in_c(law, RATE, tmp_path, {}, prefix=prefix)
        python = simulate(arm, law, reference, native=False, **options)
        c = simulate(arm, controller, reference, **options)
        assert np.abs(c.q - python.q).max() < 1e-12

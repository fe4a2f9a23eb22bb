"""Controllers side by side, and what adaptation is worth."""

import dataclasses
import importlib
import os
import re
import signal
import sys
import threading
import time

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.adaptive.gains import adaptation_gains, unknown_columns
from armdyn.control.adaptive.unknowns import adapt
from armdyn.control.design.designs import designs
from armdyn.errors import ArmdynError, ShapeError
from armdyn.report.comparison import draw, page
from armdyn.simulation.compare import Sway, compare, with_mismatch

compare_module = importlib.import_module("armdyn.simulation.compare")


@pytest.fixture(scope="module")
def sway(planar):
    return Sway.within(planar, 1.0)


def test_a_comparison_tells_what_its_runs_show(planar, sway, tmp_path):
    motion = sway(np.linspace(0, 1, 50))
    every = designs(planar, motion, 3.0, 500)
    laws = {name: every[name] for name in ("PD", "computed torque", "Slotine-Li")}
    true = with_mismatch(planar, 1.0, 1.0)
    found = compare(true, laws, sway, 500, truth=lambda law: np.zeros(law.unknowns.count))
    for row in found.rows:
        error = found.results[row.name].error
        assert np.isclose(row.rms, np.sqrt((error**2).mean()))
        assert row.name in str(found)
    assert found["computed torque"].final_rms < found["PD"].final_rms
    assert np.isnan(found["PD"].parameter_error)
    assert found.figure(tmp_path / "compare.png").stat().st_size > 10_000
    assert "errors of all joints in rad or m" in str(found)
    with raises(
        ArmdynError, cause="no controller 'LQG' was compared; there are PD, computed torque, Slotine-Li", names=("LQG",)
    ):
        found["LQG"]
    with raises(ArmdynError, cause=re.compile(r"expected \.png"), names=(str(tmp_path / "compare.txt"),)):
        found.figure(tmp_path / "compare.txt")


def test_a_run_that_diverges_is_told(planar, sway):
    found = compare(planar, {"wild": armdyn.PD(planar, 1.0, 5e4)}, sway, 500)
    assert "diverged at" in found["wild"].note
    assert np.isnan(found["wild"].rms)
    assert "nan" not in str(found)


class Broken(armdyn.PD):
    """A law whose run ends in an error that nobody foresaw."""

    def channels(self, t, motion):
        raise RuntimeError("no such\nkernel")


def test_a_law_that_fails_is_a_row_and_the_others_run(planar, sway, tmp_path):
    laws = {"broken": Broken(planar, 50.0, 10.0), "PD": armdyn.PD(planar, 50.0, 10.0)}
    found = compare(planar, laws, sway, 500)
    assert found["broken"].note == "failed"
    assert found["broken"].why == "RuntimeError: no such kernel"
    assert np.isfinite(found["PD"].rms)
    assert "RuntimeError: no such kernel" in str(found)
    assert "broken: RuntimeError: no such kernel." in page(found)
    assert found.figure(tmp_path / "compare.png").stat().st_size > 10_000
    with raises(RuntimeError, args=("no such\nkernel",)):  # no result to keep
        compare(planar, {"broken": laws["broken"]}, sway, 500)


def test_the_picture_shows_errors_efforts_and_estimates(planar, sway):
    every = designs(planar, sway(np.linspace(0, 1, 50)), 3.0, 500)
    laws = {"wild": armdyn.PD(planar, 1.0, 5e4)} | {name: every[name] for name in ("PD", "Slotine-Li")}
    found = compare(with_mismatch(planar, 1.0, 1.0), laws, sway, 500, truth=lambda law: np.zeros(law.unknowns.count))
    over_time, *bars = draw(found).axes
    assert [line.get_label() for line in over_time.lines] == ["PD", "Slotine-Li"]
    fields = ("final_rms", "torque", "parameter_error")
    for axes, field in zip(bars, fields, strict=True):
        values = [getattr(row, field) for row in found.rows]
        assert np.allclose([bar.get_width() for bar in axes.patches], np.nan_to_num(values))
        assert "diverged at" in axes.texts[0].get_text()
    assert [label.get_text() for label in bars[0].get_yticklabels()] == list(laws)


def test_the_reference_stays_in_the_limits():
    arm = armdyn.arms.puma560()
    lower, upper = arm.position_limits
    q = Sway.within(arm, 20.0)(np.linspace(0, 20, 500)).q
    assert (q >= lower).all()
    assert (q <= upper).all()


def test_gains_give_the_time_constant_wanted(planar, sway):
    """One unknown alone: d phi/dt = -phi / time on average."""
    unknowns = adapt(armdyn.unknown_mass(planar, (0, 0, 0)))
    motion = sway(np.linspace(0, 1, 100))
    gain = adaptation_gains(unknowns, *motion, [20.0, 5.0], 0.5)
    Y = unknown_columns(unknowns, *motion).Y[..., 0]
    assert np.isclose(gain[0] * (Y**2 / np.array([20.0, 5.0])).sum(-1).mean(), 2.0)
    with raises(ShapeError, expected="a time > 0 in seconds", got="0.0"):
        adaptation_gains(unknowns, *motion, 1.0, 0.0)


def test_unknowns_that_never_show_get_no_gain(planar, sway):
    """A load's moment about an axis in the plane of motion."""
    unknowns = adapt(armdyn.unknown_payload(planar))
    gain = adaptation_gains(unknowns, *sway(np.linspace(0, 1, 100)), 1.0)
    assert gain[unknowns.names.index("Ixx of load")] == 0.0
    assert gain[0] > 0


@pytest.mark.slow
def test_adaptation_pays_on_a_loaded_puma():
    """2.5 kg and a quarter more friction, unknown: a tenth of PD + gravity's error, a third of computed torque's."""
    arm = armdyn.arms.puma560()
    reference = Sway.within(arm, 12.0)
    every = designs(arm, reference(np.linspace(0, 12, 400)), 3.0, 1000)
    laws = {name: every[name] for name in ("PD + gravity", "computed torque", "Slotine-Li")}
    found = compare(with_mismatch(arm, 2.5, 1.25), laws, reference, 1000, every=5)
    adaptive = found["Slotine-Li"].final_rms
    assert adaptive <= found["PD + gravity"].final_rms / 10
    assert adaptive <= found["computed torque"].final_rms / 3


def test_a_run_tunes_the_next(planar, sway):
    """Gains a hundred times too small, then those of the run's own motion, from what was learnt."""
    unknowns = adapt(armdyn.unknown_mass(planar, (0, 0, 0)))
    law = armdyn.SlotineLi(unknowns, 8.0, [60.0, 15.0], 0.01, upper=5.0)
    loaded = planar.with_payload(1.5)
    first = armdyn.simulate(loaded, law, sway, rate=1000, check=False)
    better = armdyn.retuned(law, first, time=0.1)
    assert better.start[0] == first.states["phi"][-1, 0]
    motion = (first.q, first.qd, np.gradient(first.qd, first.t, axis=0))
    assert np.allclose(better.gain, adaptation_gains(unknowns, *motion, [60.0, 15.0], 0.1))
    second = armdyn.simulate(loaded, better, sway, rate=1000, check=False)
    assert abs(first.states["phi"][-1, 0] - 1.5) > 0.3
    assert abs(second.states["phi"][-1, 0] - 1.5) < 0.1
    with raises(ShapeError, cause="ModifiedSlotineLi has no gain K of its own"):
        armdyn.retuned(armdyn.ModifiedSlotineLi(unknowns, 8.0, 1.0), first)


LOADED = "planar2 with an unmodelled payload of 2.5 kg{}; bandwidth 3 Hz, sampled at 1000 Hz"


def test_chosen_controllers_run_in_their_order_and_tell_it():
    told = []
    found = armdyn.mismatch_study(
        armdyn.arms.planar2(), duration=0.5, controllers=("computed torque", "PD"), progress=told.append
    )
    assert told == ["computed torque", "PD"] == [row.name for row in found.rows]
    with raises(
        ArmdynError,
        cause="unknown controller 'PDD' (did you mean 'pd'?)",
        expected=(
            "one of: pd, pid, pd-gravity, cascade, feedforward-pd, computed-torque, "
            "computed-torque-observer, lqr-t, lqr-measured, operational-space, impedance, "
            "sliding-mode, super-twisting, slotine-li, composite-slotine-li, concurrent-slotine-li, "
            "natural-slotine-li, projected-slotine-li, modified-slotine-li, craig"
        ),
        names=("PDD",),
    ):
        armdyn.mismatch_study(armdyn.arms.planar2(), controllers=("PDD",))
    assert found.about == LOADED.format(" (the model has no friction)")
    rubbing = [dataclasses.replace(joint, friction=armdyn.Friction(0.1)) for joint in armdyn.arms.planar2().joints]
    found = armdyn.mismatch_study(armdyn.arms.planar2().with_joints(rubbing), duration=0.1, controllers=("PD",))
    assert found.about == LOADED.format(" and 1.25 times the modelled friction")


def test_interruption_keeps_the_controllers_that_have_run(planar, sway):
    laws = {name: armdyn.PD(planar, 50.0, 10.0) for name in ("first", "second", "third")}

    def interrupt(at):
        def progress(name):
            if name == at:
                raise KeyboardInterrupt

        return progress

    found = compare(planar, laws, sway, 500, about="three", progress=interrupt("third"))
    assert found.interrupted
    assert found.about == "three (interrupted)"
    assert [row.name for row in found.rows] == ["first", "second"]
    with pytest.raises(KeyboardInterrupt):  # nothing to keep
        compare(planar, laws, sway, 500, progress=interrupt("first"))


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_does_not_wait_for_native_code(planar, sway, monkeypatch):
    real, ended = compare_module.simulate, threading.Event()

    def slow(plant, law, *rest, name, **options):
        if name == "second":
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            ended.wait(20)  # as if it compiled, in a thread that does not hear of Ctrl-C
        return real(plant, law, *rest, name=name, **options)

    monkeypatch.setattr(compare_module, "simulate", slow)
    begun = time.monotonic()
    found = compare(planar, {name: armdyn.PD(planar, 50.0, 10.0) for name in ("first", "second")}, sway, 500)
    assert time.monotonic() - begun < 15
    ended.set()
    assert found.interrupted
    assert [row.name for row in found.rows] == ["first"]


@pytest.mark.by_day(1)
@pytest.mark.filterwarnings("ignore:designs:armdyn.errors.ArmdynWarning")
@pytest.mark.filterwarnings("ignore:loop has:armdyn.errors.ArmdynWarning")  # of two arms at once
@pytest.mark.parametrize("name", armdyn.arms.__all__)
def test_every_law_runs_on_every_library_arm(name):
    """None fails; which of them diverge is said in their rows."""
    found = armdyn.mismatch_study(getattr(armdyn.arms, name)(), duration=0.05)
    assert not [(row.name, row.why) for row in found.rows if row.note == "failed"]

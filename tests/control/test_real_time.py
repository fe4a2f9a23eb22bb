"""Loops on a clock: samples, deadlines, ends and logs, with a simulated robot."""

from __future__ import annotations

import time

import numpy as np
from tests.raising import raises

import armdyn
from armdyn.control.real_time import LoopOutcome, run_law
from armdyn.errors import ArmdynError
from armdyn.simulation.simulated_robot import SimulatedRobot

ARM = armdyn.arms.planar2()
START = np.array([0.3, -0.4])
RATE = 200.0


def law() -> armdyn.ComputedTorque:
    return armdyn.ComputedTorque.from_bandwidth(ARM, 2.0)


class Steps:
    """A robot whose clock is its own: one period a read, so that nothing depends on the machine."""

    def __init__(self, robot: SimulatedRobot) -> None:
        self.robot, self.n_reads, self.stops = robot, 0, 0

    def read(self):
        self.n_reads += 1
        return self.robot.read()

    def write(self, tau):
        self.robot.write(tau)

    def stop(self):
        self.stops += 1
        self.robot.stop()


def stepped_robot(**more) -> Steps:
    ticks = iter(np.arange(100_000) / RATE)
    return Steps(SimulatedRobot(ARM, START, rate=RATE, clock=lambda: next(ticks), **more))


def test_the_loop_is_that_of_simulate():
    motion = armdyn.point_to_point(START, START + 0.5, duration=0.5)
    record = run_law(law(), stepped_robot(), motion, rate=RATE, duration=0.5, max_missed=10_000)
    run = armdyn.simulate(ARM, armdyn.Guarded(law(), fallback="gravity"), motion, rate=RATE, duration=0.5, q0=START)
    if record.n_missed == 0:  # else the machine was busy, and samples are absent
        step = round(len(run.t) / record.n_samples)
        np.testing.assert_allclose(record.q, run.q[: step * record.n_samples : step], atol=1e-9)
    assert record.outcome is LoopOutcome.COMPLETED
    assert record.n_samples + record.n_missed == 100


def test_the_robot_is_stopped_once_whatever_ends_the_loop():
    class Broken(Steps):
        def read(self):
            if self.n_reads == 3:
                raise OSError("the cable is out")
            return super().read()

    class Interrupted(Steps):
        def write(self, tau):
            if self.n_reads == 4:
                raise KeyboardInterrupt
            super().write(tau)

    for kind, outcome, n_samples in ((Broken, LoopOutcome.ROBOT_FAILED, 3), (Interrupted, LoopOutcome.INTERRUPTED, 3)):
        robot = kind(stepped_robot().robot)
        record = run_law(law(), robot, START, rate=RATE, duration=1.0, max_missed=10_000)
        assert (record.outcome, record.n_samples, robot.stops) == (outcome, n_samples, 1)
        assert len(record.q) == n_samples
    assert record.error is None


def test_missed_deadlines_are_counted_and_the_watchdog_ends_the_loop():
    class Slow(Steps):
        def read(self):
            if self.n_reads == 5:
                time.sleep(0.2)
            return super().read()

    record = run_law(law(), Slow(stepped_robot().robot), START, rate=RATE, duration=1.0, max_missed=10)
    assert record.outcome is LoopOutcome.DEADLINES_MISSED
    record = run_law(law(), Slow(stepped_robot().robot), START, rate=RATE, duration=1.0, max_missed=10_000)
    assert record.outcome is LoopOutcome.COMPLETED
    assert record.n_missed >= 38  # 0.2 s at 200 Hz
    np.testing.assert_allclose(np.round(record.t * RATE), record.t * RATE, atol=1e-9)  # the clock did not shift


def test_only_the_last_samples_are_recorded_in_order(tmp_path):
    record = run_law(law(), stepped_robot(), START, rate=RATE, duration=0.5, max_missed=10_000, log_duration=0.3)
    assert len(record.t) == 60
    assert (np.diff(record.t) > 0).all()
    log = armdyn.read_log(record.save(tmp_path / "loop.csv"), ARM)
    np.testing.assert_allclose(log.q, record.q, atol=1e-8)
    log = armdyn.read_log(record.save(tmp_path / "loop.npz"), ARM)
    np.testing.assert_array_equal(log.tau, record.tau)
    with raises(ArmdynError, expected="a name that ends in .csv or .npz"):
        record.save(tmp_path / "loop.txt")


def test_lost_measurements_are_bridged():
    class Deaf(Steps):
        def read(self):
            q, qd = super().read()
            return (q, qd) if self.n_reads % 7 else (np.nan * q, qd)

    record = run_law(law(), Deaf(stepped_robot().robot), START, rate=RATE, duration=0.5, max_missed=10_000)
    assert record.outcome is LoopOutcome.COMPLETED
    assert np.isfinite(record.tau).all()
    assert np.isnan(record.q).any()


def test_a_simulated_robot_moves_in_real_time_and_ends():
    now = [0.0]
    robot = SimulatedRobot(ARM, START, rate=1000.0, duration=0.1, clock=lambda: now[0])
    np.testing.assert_array_equal(robot.read()[0], START)
    now[0] = 0.05
    q, _ = robot.read()  # it falls: nothing was commanded
    run = armdyn.simulate(ARM, lambda t, q, qd, ref: 0 * q, START, duration=0.05, q0=START)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-9)
    now[0] = 0.2
    with raises(ArmdynError, cause="its 0.1 s are over"):
        robot.read()


def test_bad_input_is_named():
    with raises(ArmdynError, expected="a control law", got="None"):
        run_law(None, stepped_robot(), START, rate=RATE, duration=1.0)
    with raises(ArmdynError, expected="a rate > 0", got="0.0"):
        run_law(law(), stepped_robot(), START, rate=0.0, duration=1.0)
    with raises(ArmdynError, where="run_law: reference"):
        run_law(law(), stepped_robot(), [0.0], rate=RATE, duration=1.0)

"""Reading logs: formats, names, units, repairs, and what is rejected."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError
from armdyn.identification.logs.columns import understand


@pytest.fixture(scope="module")
def data():
    t = np.arange(400) / 100
    q = np.stack([np.sin(t), np.cos(2 * t)], axis=1)
    return t, q, np.gradient(q, t, axis=0), 3 * q + 1


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


def write(path, data, head="t,q1,q2,qd1,qd2,tau1,tau2", order=range(7)):
    table = np.column_stack(data)[:, list(order)]
    np.savetxt(path, table, delimiter=",", header=head, comments="")
    return path


def test_csv(tmp_path, arm, data):
    log = armdyn.read_log(write(tmp_path / "a.csv", data), arm)
    np.testing.assert_allclose(log.q, data[1])
    np.testing.assert_allclose(log.qd, data[2])
    np.testing.assert_allclose(log.tau, data[3])


@pytest.mark.parametrize(
    "head",
    [
        "time,position_1,position_2,velocity_1,velocity_2,effort_1,effort_2",
        "Time [s],pos[0],pos[1],vel[0],vel[1],torque[0],torque[1]",
        "timestamp,q_1_rad,q_2_rad,dq_1,dq_2,tau_1_Nm,tau_2_Nm",
        "t,joint1_position,joint2_position,joint1_velocity,joint2_velocity,joint1_effort,joint2_effort",
        "__time,/joint_states/joint1/position,/joint_states/joint2/position,v1,v2,"
        "/joint_states/joint1/effort,/joint_states/joint2/effort",
        "%time,field.position0,field.position1,field.velocity0,field.velocity1,field.effort0,field.effort1",
        "__time,/joint_states/position[0],/joint_states/position[1],/joint_states/velocity[0],"
        "/joint_states/velocity[1],/joint_states/effort[0],/joint_states/effort[1]",
        "t,pos_1,pos_2,vel_1,vel_2,eff_1,eff_2",
        "t,pos1,pos2,vel1,vel2,eff1,eff2",
        "t [s],q1 [rad],q2 [rad],qd1 [rad/s],qd2 [rad/s],tau1 [N·m],tau2 [N·m]",
        "t_s,q1_rad,q2_rad,qd1_rad_s,qd2_rad_s,tau1 (N m),tau2 (N m)",
        "t,q1 (measured),q2 (measured),qd1,qd2,tau1 (filtered),tau2 (filtered)",
    ],
)
def test_names_of_columns(tmp_path, arm, data, head):
    log = armdyn.read_log(write(tmp_path / "a.csv", data, head), arm)
    np.testing.assert_allclose(log.q, data[1])
    np.testing.assert_allclose(log.tau, data[3])


def test_joints_are_ordered_by_name(tmp_path, arm, data):
    a, b = arm.joint_names
    head = f"t,q_{b},q_{a},tau_{a},tau_{b}"
    path = write(tmp_path / "a.csv", data, head, (0, 2, 1, 5, 6))
    log = armdyn.read_log(path, arm)
    np.testing.assert_allclose(log.q, data[1])
    np.testing.assert_allclose(log.tau, data[3])


def test_units_in_names_and_as_said(tmp_path, arm, data):
    t, q, qd, tau = data
    turned = (1e3 * t, np.degrees(q), np.degrees(qd), tau)
    named = "t_ms,q1_deg,q2_deg,qd1_deg,qd2_deg,tau1,tau2"
    np.testing.assert_allclose(armdyn.read_log(write(tmp_path / "a.csv", turned, named), arm).q, q)
    path = write(tmp_path / "b.csv", (t, np.degrees(q), np.degrees(qd), tau))
    np.testing.assert_allclose(armdyn.read_log(path, arm, angle="deg").qd, qd)
    with raises(ReadError, cause=re.compile("degrees")):
        armdyn.read_log(path, arm)


@pytest.mark.parametrize(
    ("factor", "names"),
    [
        (180 / np.pi, "q1 [°],q2 [°],qd1 [°/s],qd2 [°/s]"),
        (180 / np.pi, "q1_deg,q2_deg,qd1_deg_s,qd2_deg_s"),
        (180 / np.pi, "q1 (deg),q2 (deg),qd1 (deg/s),qd2 (deg/s)"),
        (180 / np.pi, "q1_deg,q2_deg,qd1,qd2"),  # rates count what positions count
        (0.5 / np.pi, "q1 [rev],q2 [rev],qd1 [rev/s],qd2 [rev/s]"),
    ],
)
def test_units_of_angles(tmp_path, arm, data, factor, names):
    t, q, qd, tau = data
    log = armdyn.read_log(write(tmp_path / "a.csv", (t, factor * q, factor * qd, tau), f"t,{names},tau1,tau2"), arm)
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.qd, qd, atol=1e-12)
    assert any("by its name" in note for note in log.notes)


def test_turns_a_minute_and_millimetres(tmp_path, data):
    t, q, qd, tau = data
    slide, turn = armdyn.arms.stanford().joints[2], armdyn.arms.planar2().joints[1]
    arm = armdyn.arms.planar2().with_joints([slide, turn])
    scale = np.array([1e3, 180 / np.pi])
    head = "t,q1_mm,q2_deg,qd1_mm_s,qd2_rpm,tau1_kN,tau2_mNm"
    path = write(tmp_path / "a.csv", (t, q * scale, qd * [1e3, 30 / np.pi], tau * [1e-3, 1e3]), head)
    log = armdyn.read_log(path, arm)
    for mine, wanted in ((log.q, q), (log.qd, qd), (log.tau, tau)):
        np.testing.assert_allclose(mine, wanted, atol=1e-12)


def test_what_units_are_taken_is_said(tmp_path, arm, data):
    text = " | ".join(armdyn.read_log(write(tmp_path / "a.csv", data), arm).notes)
    assert "q1 .. q2, no unit in the header; assuming rad |" in text
    assert "tau1 .. tau2, no unit in the header; assuming N m" in text
    with raises(ReadError, names=("ticks",), expected="one such as rad, deg, mm, N m, A, ms"):
        armdyn.read_log(write(tmp_path / "a.csv", data, "t,q1 [ticks],q2 [ticks],qd1,qd2,tau1,tau2"), arm)
    with raises(ReadError, cause="the name says deg, angle= says rad"):
        armdyn.read_log(write(tmp_path / "a.csv", data, "t,q1_deg,q2_deg,qd1,qd2,tau1,tau2"), arm, angle="rad")


@pytest.mark.parametrize("start", [0.0, 1.7e9])
@pytest.mark.parametrize(("factor", "unit"), [(1e3, "ms"), (1e6, "us"), (1e9, "ns")])
def test_unnamed_units_of_time_are_guessed(tmp_path, arm, data, start, factor, unit):
    t, *rest = data
    path = tmp_path / "a.csv"
    np.savetxt(path, np.column_stack([(start + t) * factor, *rest]), "%.19g", ",",
               header="t,q1,q2,qd1,qd2,tau1,tau2", comments="")  # fmt: skip
    log = armdyn.read_log(path, arm)
    # Epochs in nanoseconds are 256 apart as numbers of 53 bits.
    np.testing.assert_allclose(np.diff(log.t), 0.01, atol=1e-6)
    assert f"times: t has steps of {0.01 * factor:.3g}, taken as {unit}" in log.notes[0]


def test_whole_seconds_are_seconds(tmp_path, arm):
    """A hundred rows share a stamp of a whole second: nobody swings at hundreds of hertz."""
    t = np.arange(3000) / 100
    q = np.stack([np.sin(t), np.cos(1.3 * t)], axis=1)
    rows = np.column_stack([np.floor(t), q, q])
    np.savetxt(tmp_path / "a.csv", rows, "%.9g", ",", header="t,q1,q2,tau1,tau2", comments="")
    log = armdyn.read_log(tmp_path / "a.csv", arm)
    assert not log.still
    np.testing.assert_allclose(log.t, t, atol=0.011)
    assert log.dt == pytest.approx(0.01, rel=0.01)


def test_rows_of_milliseconds_stay_milliseconds(tmp_path, arm):
    t = np.arange(3000)
    q = np.stack([np.sin(1e-3 * t * 12), np.cos(1e-3 * t * 9)], axis=1)  # 2 Hz
    np.savetxt(tmp_path / "a.csv", np.column_stack([t, q, q]), "%.9g", ",", header="t,q1,q2,tau1,tau2", comments="")
    np.testing.assert_allclose(armdyn.read_log(tmp_path / "a.csv", arm).t, 1e-3 * t)


def test_seconds_and_nanoseconds_in_two_columns(tmp_path, arm, data):
    t, *rest = data
    stamps = np.column_stack([1000 + np.floor(t), np.round(t % 1 * 1e9)])
    head = "header.stamp.sec,header.stamp.nanosec,q1,q2,qd1,qd2,tau1,tau2"
    log = armdyn.read_log(write(tmp_path / "a.csv", (stamps, *rest), head, range(8)), arm)
    np.testing.assert_allclose(log.t, 1000 + t, atol=1e-9)


def test_npz_mat_parquet(tmp_path, arm, data):
    from scipy.io import savemat

    t, q, qd, tau = data
    np.savez(tmp_path / "a.npz", times=t, positions=q, velocities=qd, torques=tau, other=np.eye(3))
    savemat(tmp_path / "a.mat", {"t": t, "q": q.T, "dq": qd.T, "tau": tau.T})
    for name in ("a.npz", "a.mat"):
        log = armdyn.read_log(tmp_path / name, arm)
        np.testing.assert_allclose(log.q, q)
        np.testing.assert_allclose(log.tau, tau)
    savemat(tmp_path / "nested.mat", {"run": {"time": t, "robot": {"q": q, "tau": tau}}})
    np.testing.assert_allclose(armdyn.read_log(tmp_path / "nested.mat", arm).tau, tau)
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'logs'")
    import pyarrow.parquet as pq

    names = ["t", "q1", "q2", "tau1", "tau2"]
    pq.write_table(pa.table(dict(zip(names, np.column_stack((t, q, tau)).T, strict=True))), tmp_path / "a.parquet")
    np.testing.assert_allclose(armdyn.read_log(tmp_path / "a.parquet", arm).tau, tau)
    stamps = pa.array((t * 1e9).round().astype("int64"), pa.timestamp("ns"))
    lists = {
        "timestamp": stamps,
        "position": list(map(list, q)),
        "effort": list(map(list, tau)),
        "mode": ["a"] * len(t),
    }
    pq.write_table(pa.table(lists), tmp_path / "b.parquet")
    log = armdyn.read_log(tmp_path / "b.parquet", arm)
    np.testing.assert_allclose(log.tau, tau)
    np.testing.assert_allclose(log.t, t, atol=1e-8)


def test_matlab_structures(tmp_path, arm, data):
    from scipy.io import savemat

    t, q, _, tau = data
    savemat(tmp_path / "a.mat", {"out": {"q": {"time": t, "data": q}, "tau": {"time": t, "data": tau}}})
    np.testing.assert_allclose(armdyn.read_log(tmp_path / "a.mat", arm).tau, tau)
    savemat(tmp_path / "b.mat", {"run1": {"t": t, "q": q, "tau": tau}, "run2": {"t": t, "q": -q, "tau": tau}})
    with raises(ReadError, file="b.mat", cause="run1.q and run2.q are both named q", remedy="save one run per file"):
        armdyn.read_log(tmp_path / "b.mat", arm)


def test_matlab_7_3(tmp_path, arm, data):
    h5py = pytest.importorskip("h5py", reason="files of MATLAB 7.3 need the extra 'logs'")
    t, q, qd, tau = data
    path = tmp_path / "a.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["run/t"] = t[None]
        file["run/q"], file["run/qd"], file["run/tau"] = q.T, qd.T, tau.T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")
    log = armdyn.read_log(path, arm)
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.tau, tau)
    path.write_bytes(path.read_bytes()[:2000])
    with raises(ReadError, cause=re.compile(r"cannot be read as a MATLAB 7.3 file")):
        armdyn.read_log(path, arm)


def test_names_of_joints_beside_matrices(tmp_path, arm, data):
    t, q, _, tau = data
    names = list(arm.joint_names)[::-1]
    np.savez(tmp_path / "a.npz", t=t, q=q[:, ::-1], tau=tau[:, ::-1], joint_names=np.array(names))
    np.testing.assert_allclose(armdyn.read_log(tmp_path / "a.npz", arm).q, q)
    np.savez(tmp_path / "b.npz", t=t, q=q[:-1], tau=tau)
    with raises(ReadError, file="b.npz", cause="q has shape (399, 2), others have 400 samples"):
        armdyn.read_log(tmp_path / "b.npz", arm)
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'logs'")
    import pyarrow.parquet as pq

    lists = {"name": [names] * len(t), "position": list(map(list, q[:, ::-1])), "effort": list(map(list, tau[:, ::-1]))}
    stamps = pa.array((t * 1e9).round().astype("int64"), pa.duration("ns"))
    pq.write_table(pa.table({"time": stamps} | lists), tmp_path / "a.parquet")
    log = armdyn.read_log(tmp_path / "a.parquet", arm)
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.tau, tau)
    lists["position"][3] = [0.0]
    pq.write_table(pa.table({"time": stamps} | lists), tmp_path / "b.parquet")
    with raises(
        ReadError, file="b.parquet", cause="lists in column 'position' have different lengths", names=("position",)
    ):
        armdyn.read_log(tmp_path / "b.parquet", arm)


@pytest.mark.parametrize("kind", ["sqlite3", "mcap"])
def test_bags(tmp_path, arm, data, kind, write_bag):
    t, q, qd, tau = data
    turned = (x[:, ::-1] for x in (q, qd, tau))
    write_bag(tmp_path / "bag", arm.joint_names[::-1], t, *turned, kind=kind)
    lone = next(p for p in (tmp_path / "bag").iterdir() if p.suffix in (".db3", ".mcap"))
    for path in (tmp_path / "bag", lone):
        log = armdyn.read_log(path, arm)
        np.testing.assert_allclose(log.q, q)
        np.testing.assert_allclose(log.tau, tau)
    whole, cut_off = lone.read_bytes(), tmp_path / f"cut_off{lone.suffix}"
    for share in (0.02, 0.3, 0.9, 0.99):
        cut_off.write_bytes(whole[: int(share * len(whole))])
        with raises(ReadError, file=cut_off.name, cause=re.compile("cannot be read as a ROS 2 bag .* recover")):
            armdyn.read_log(cut_off, arm)
    lone.write_bytes(whole[: len(whole) // 2])
    with raises(ReadError, cause=re.compile("cannot be read as a ROS 2 bag")):
        armdyn.read_log(tmp_path / "bag", arm)


class TestBags:
    """What drivers and grippers do to JointState."""

    @pytest.fixture
    def states(self, arm, data):
        """Messages (topic, stamp, names, position, velocity, effort)."""
        return [("/joint_states", k, list(arm.joint_names), *(x[i] for x in data[1:])) for i, k in enumerate(data[0])]

    def same(self, log, data):
        np.testing.assert_allclose(log.t - log.t[0], data[0], atol=1e-8)
        np.testing.assert_allclose(log.q, data[1])
        np.testing.assert_allclose(log.tau, data[3])

    def test_a_gripper_on_the_same_topic_and_on_another(self, tmp_path, arm, data, states, write_states):
        fingers = [(topic, t - 1e-3, ["f1", "f2"], *3 * ([0.0, 0.0],)) for topic, t, *_ in states]
        both = [m for pair in zip(fingers, states, strict=True) for m in pair]
        self.same(armdyn.read_log(write_states(tmp_path / "one", both), arm), data)
        apart = [("/gripper/joint_states", *m[1:]) if m in fingers else m for m in both]
        self.same(armdyn.read_log(write_states(tmp_path / "two", apart), arm), data)

    def test_two_arms(self, tmp_path, arm, data, states, write_states):
        other = [("/other", *m[1:]) for m in states]
        bag = write_states(tmp_path / "bag", states + other)
        with raises(
            ReadError,
            cause=(
                "several arms or topics of sensor_msgs/msg/JointState: /joint_states (joint1 .. "
                "joint2), /other (joint1 .. joint2)"
            ),
            remedy="choose a topic with topic=, or name the arm's joints as one of them does",
        ):
            armdyn.read_log(bag, arm)
        self.same(armdyn.read_log(bag, arm, topic="/other"), data)
        with raises(
            ReadError,
            cause=(
                "no topic of sensor_msgs/msg/JointState named /third; the bag holds /joint_states "
                "(sensor_msgs/msg/JointState), /other (sensor_msgs/msg/JointState)"
            ),
        ):
            armdyn.read_log(bag, arm, topic="/third")

    def test_two_arms_in_a_message(self, tmp_path, arm, states, write_states):
        names = [f"{side}_{joint}" for side in ("left", "right") for joint in arm.joint_names]
        both = [(topic, t, names, *([*x, *x] for x in values)) for topic, t, _, *values in states]
        with raises(
            ReadError,
            cause=(
                "several arms or topics of sensor_msgs/msg/JointState: /joint_states (left_joint1 .. "
                "left_joint2), /joint_states (right_joint1 .. right_joint2)"
            ),
        ):
            armdyn.read_log(write_states(tmp_path / "bag", both), arm)

    def test_other_names(self, tmp_path, arm, data, states, write_states):
        def named(names):
            return [(topic, t, names, *(x[::-1] for x in values)) for topic, t, _, *values in states]

        prefixed = armdyn.read_log(
            write_states(tmp_path / "a", named([f"left_{j}" for j in arm.joint_names[::-1]])), arm
        )
        self.same(prefixed, data)
        assert any("left_joint1 .. left_joint2" in note for note in prefixed.notes)
        strange = armdyn.read_log(write_states(tmp_path / "b", named(["elbow", "pan"])), arm)
        np.testing.assert_allclose(strange.q, data[1][:, ::-1])
        assert any("taken in the order in which they come: elbow, pan" in note for note in strange.notes)
        with raises(
            ReadError,
            cause="no JointState message with joints joint1, joint2; there are /joint_states: joint1, pan",
            names=("joint1", "joint2"),
        ):
            armdyn.read_log(write_states(tmp_path / "c", named(["joint1", "pan"])), arm)

    def test_stamps(self, tmp_path, arm, data, states, write_states):
        mixed = [states[k ^ 1] for k in range(len(states))]
        log = armdyn.read_log(write_states(tmp_path / "a", mixed), arm)
        self.same(log, data)
        assert "messages arrived out of order 200 times: sorted by their stamps" in log.notes
        none = [(m[0], 0.0, *m[2:]) for m in states]
        log = armdyn.read_log(write_states(tmp_path / "b", none), arm)
        assert any("arrival times are used" in note for note in log.notes)
        assert log.dt == pytest.approx(0.01)

    def test_without_velocity_or_effort(self, tmp_path, arm, data, states, write_states):
        log = armdyn.read_log(write_states(tmp_path / "a", [(*m[:4], [], m[5]) for m in states]), arm)
        self.same(log, data)
        assert log.qd is None
        with raises(ReadError, file="aa", cause="the JointState messages carry no effort; torques are needed"):
            armdyn.read_log(write_states(tmp_path / "aa", [(*m[:5], []) for m in states]), arm)

    @pytest.mark.parametrize("kind", ["sqlite3", "mcap"])
    def test_compressed_split_and_without_description(self, tmp_path, arm, data, states, write_states, kind):
        for mode in ("FILE", "MESSAGE"):
            self.same(armdyn.read_log(write_states(tmp_path / mode, states, kind, mode), arm), data)
        folder = tmp_path / "folder"
        folder.mkdir()
        with raises(ReadError, cause="a folder without metadata.yaml, .db3 or .mcap files is no ROS 2 bag"):
            armdyn.read_log(folder, arm)
        for name, some in (("run_0", states[:150]), ("run_1", states[150:])):
            bag = write_states(tmp_path / name, some, kind)
            lone = next(p for p in bag.iterdir() if p.suffix in (".db3", ".mcap"))
            lone.rename(folder / f"{name}{lone.suffix}")
        self.same(armdyn.read_log(folder, arm), data)


def test_motor_side(tmp_path, arm, data):
    t, q, qd, tau = data
    ratio, coupling = np.array([100.0, -50.0]), np.array([[1.0, 0.0], [0.5, 1.0]])
    motor, current = (q @ coupling.T) * ratio, (tau @ np.linalg.inv(coupling)) / ratio / 0.2
    head = "t,q1,q2,qd1,qd2,current1,current2"
    path = write(tmp_path / "a.csv", (t, motor, (qd @ coupling.T) * ratio, current), head)
    log = armdyn.read_log(path, arm, gear_ratio=ratio, coupling=coupling, drive_gain=0.2, angle="rad")
    np.testing.assert_allclose(log.q, q, atol=1e-12)
    np.testing.assert_allclose(log.qd, qd, atol=1e-12)
    np.testing.assert_allclose(log.tau, tau, atol=1e-12)


def test_motor_turns_are_not_taken_for_degrees(tmp_path, arm, data):
    t, q, qd, tau = data
    path = write(tmp_path / "a.csv", (t, 100 * q, 100 * qd, tau / 100))
    with raises(
        ReadError, where=str(path), cause=re.compile(r"positions reach 100 rad: degrees, or turns of the motors\?")
    ):
        armdyn.read_log(path, arm)
    np.testing.assert_allclose(armdyn.read_log(path, arm, gear_ratio=100.0).q, q)
    np.testing.assert_allclose(armdyn.read_log(path, arm, angle="rad").q, 100 * q)
    named = write(tmp_path / "c.csv", (t, 100 * q, 100 * qd, tau), "t,q1_rad,q2_rad,qd1,qd2,tau1,tau2")
    np.testing.assert_allclose(armdyn.read_log(named, arm).q, 100 * q)
    C = np.array([[1.0, 0.0], [1.0, 1.0]])
    alone = armdyn.read_log(write(tmp_path / "b.csv", data), arm, coupling=C)  # gears of ratio 1
    np.testing.assert_allclose(alone.q @ C.T, q, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"coupling": np.eye(3)}, {"expected": "an invertible coupling of shape (2, 2)", "got": "shape (3, 3)"}),
        ({"coupling": np.zeros((2, 2))}, {"expected": "an invertible coupling of shape (2, 2)", "got": "shape (2, 2)"}),
        ({"gear_ratio": [1.0, 0.0]}, {"expected": "gear_ratio other than 0"}),
        ({"drive_gain": 0.0}, {"expected": "drive_gain other than 0"}),
        (
            {"gear_ratio": [1.0, 2.0, 3.0]},
            {"expected": "gear_ratio to be a finite number, or 2 of them", "got": "[1.0, 2.0, 3.0]"},
        ),
        ({"angle": "grad"}, {"expected": "angle 'rad' or 'deg'", "got": "'grad'"}),
        (
            {"columns": {"speed": ["q1", "q2"]}},
            {"expected": "columns of t, q, qd, tau, current, temperature", "got": "'speed'"},
        ),
        ({"columns": {"t": "clock"}}, {"cause": "no column 'clock' for t; there are t, q1, q2, qd1, qd2, tau1, tau2"}),
        ({"columns": {"q": ["q1"]}}, {"expected": "2 columns for q", "got": "q1"}),
    ],
)
def test_options_are_checked(tmp_path, arm, data, options, parts):
    with raises(armdyn.ArmdynError, **parts):
        armdyn.read_log(write(tmp_path / "a.csv", data), arm, **options)


@pytest.mark.parametrize(("names", "zero"), [("temp1_C,temp2_C", 0.0), ("temperature_1,temperature_2", 273.15)])
def test_temperatures(tmp_path, arm, data, names, zero):
    t, q, _, tau = data
    warm = np.stack([30 + t, 40 - t], axis=1)
    path = write(tmp_path / "a.csv", (t, q, warm + zero, tau), f"t,q1,q2,{names},tau1,tau2")
    np.testing.assert_allclose(armdyn.read_log(path, arm).temperature, warm - 25, atol=1e-9)
    np.testing.assert_allclose(armdyn.read_log(path, arm, reference_temperature=30).temperature, warm - 30, atol=1e-9)
    assert armdyn.read_log(write(tmp_path / "b.csv", data), arm).temperature is None


def test_commanded_values_are_not_measured_ones(tmp_path, arm, data):
    with raises(ReadError, cause=re.compile("no columns of joint positions")):
        armdyn.read_log(write(tmp_path / "a.csv", data, "t,q1_c,q2_c,qd1,qd2,tau1,tau2"), arm)


class TestRepairs:
    def test_jitter_repeats_and_gaps(self, tmp_path, arm, data):
        t, q, qd, tau = (x.copy() for x in data)
        t[200:] += 1.0
        t[50], t[51] = t[51], t[50]
        q[300], qd[300], tau[300] = q[299], qd[299], tau[299]
        q[20, 0] = np.nan
        log = armdyn.read_log(write(tmp_path / "a.csv", (t, q, qd, tau)), arm)
        text = " | ".join(log.notes)
        for part in ("missing values", "not later", "repeat the measurement", "1 gap (1 s at 1.99 s)"):
            assert part in text
        assert len(log) == 397
        assert len(log.stretches) == 2

    def test_velocities_that_are_missing_here_and_there(self, tmp_path, arm, data):
        t, q, qd, tau = (x.copy() for x in data)
        q[10], qd[[20, 30], 0] = np.nan, np.nan
        log = armdyn.read_log(write(tmp_path / "a.csv", (t, q, qd, tau)), arm)
        assert log.qd is None
        assert "velocities are missing in 2 of the 399 rows that are left: not used" in log.notes
        assert "1 of 400 rows have missing values: dropped" in log.notes
        log = armdyn.read_log(write(tmp_path / "a.csv", (t, q, 0 * tau, tau)), arm)
        assert "velocities are missing or zero throughout: not used" in log.notes

    def test_rounded_stamps_are_spread(self, tmp_path, arm, data):
        t, q, qd, tau = data
        log = armdyn.read_log(write(tmp_path / "a.csv", (np.arange(len(t)) // 4 * 0.04, q, qd, tau)), arm)
        assert any("spread evenly" in note for note in log.notes)
        np.testing.assert_allclose(np.diff(log.t), 0.01, rtol=1e-6)

    def test_even_resampling_keeps_a_smooth_motion(self, arm):
        rng = np.random.default_rng(0)
        t = np.arange(2000) / 500 + rng.uniform(-8e-4, 8e-4, 2000)
        q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
        (s,) = armdyn.Log(t, q, q).stretches
        # Interpolation between stamps up to 3.6 ms apart: 9 (3.6e-3)^2 / 8.
        np.testing.assert_allclose(s.q, np.stack([np.sin(3 * s.t), np.cos(2 * s.t)], axis=1), atol=1.5e-5)


class TestBadInput:
    def test_text_in_a_number_column(self, tmp_path, arm, data):
        path = write(tmp_path / "a.csv", data)
        lines = path.read_text().splitlines()
        lines[7] = lines[7].replace(lines[7].split(",")[3], "n/a?")
        path.write_text("\n".join(lines))
        with raises(ReadError, line=8, expected="a number", got="'n/a?'"):
            armdyn.read_log(path, arm)

    def test_three_samples(self, tmp_path, arm, data):
        with raises(ReadError, expected="at least 50 samples", got="3"):
            armdyn.read_log(write(tmp_path / "a.csv", [x[:3] for x in data]), arm)

    def test_time_runs_backward(self, tmp_path, arm, data):
        with raises(ReadError, cause=re.compile("time does not rise")):
            armdyn.read_log(write(tmp_path / "a.csv", (data[0][::-1], *data[1:])), arm)

    def test_mostly_missing(self, tmp_path, arm, data):
        t, q, qd, tau = (x.copy() for x in data)
        tau[: len(t) // 2] = np.nan
        with raises(ReadError, cause="200 of 400 rows have missing values"):
            armdyn.read_log(write(tmp_path / "a.csv", (t, q, qd, tau)), arm)

    @pytest.mark.parametrize(
        ("head", "parts"),
        [
            ("t,a,b,c,d,e,f", {"cause": "no columns of joint positions and torques for the 2 joints"}),
            (
                "x,q1,q2,qd1,qd2,tau1,tau2",
                {
                    "cause": "no column of times",
                    "expected": re.compile(r"columns=\{'t': \[...\]\}, or rate="),
                    "got": "x, q1, q2, qd1, qd2, tau1, tau2",
                },
            ),
            (
                "t,q1,q2,qd1,qd2,left,right",
                {
                    "cause": "no columns of joint torques for the 2 joints",
                    "expected": "names like tau1 .. tau2, or columns={'tau': [...]}",
                    "got": "t, left, right, q1, q2, qd1, qd2",
                },
            ),
            (
                "t,q1,q3,qd1,qd2,tau1,tau2",
                {
                    "cause": "no column of positions for joint 2 of arm 'planar2'; the file has q1, q3",
                    "names": ("2",),
                },
            ),
            (
                "t,q1,q2,q3,qd2,tau1,tau2",
                {
                    "cause": "more columns than the 2 joints of arm 'planar2' (q: q1, q2, q3)",
                    "remedy": "say which are those of the arm, such as columns={'q': ['q1', 'q2']}",
                },
            ),
            (
                "t,q1,q_1,qd1,qd2,tau1,tau2",
                {"cause": "columns 'q1' and 'q_1' both claim to be q1", "names": ("q1", "q_1")},
            ),
        ],
    )
    def test_headings(self, tmp_path, arm, data, head, parts):
        with raises(ReadError, **parts):
            armdyn.read_log(write(tmp_path / "a.csv", data, head), arm)

    def test_empty_columns(self, tmp_path, arm, data):
        t, q, qd, tau = data
        with raises(ReadError, names=("joint1",)):
            armdyn.read_log(write(tmp_path / "a.csv", (t, q, qd, tau * np.nan)), arm)
        with raises(ReadError, names=("joint2",)):
            armdyn.read_log(write(tmp_path / "a.csv", (t, q * [1, np.nan], qd, tau)), arm)
        log = armdyn.read_log(write(tmp_path / "b.csv", (t, q, 0 * qd, tau)), arm)
        assert log.qd is None
        assert any("velocities are missing or zero" in note for note in log.notes)

    @pytest.mark.parametrize("name", ["a.npz", "a.mat", "a.parquet", "a.db3", "a.mcap", "a.csv", "a.xyz"])
    def test_garbage(self, tmp_path, arm, name):
        (tmp_path / name).write_bytes(bytes(range(256)) * 20)
        with raises(ReadError, file=name):
            armdyn.read_log(tmp_path / name, arm)
        with raises(ReadError, cause="no such file"):
            armdyn.read_log(tmp_path / f"missing_{name}", arm)


def test_understanding_names():
    joints = ("shoulder_pan_joint", "elbow_joint")
    assert understand("position_elbow_joint", joints)[:2] == ("q", "elbow_joint")
    assert understand("Torque 3 (Nm)", joints)[:3] == ("tau", "3", "nm")
    assert understand("comment", joints) is None

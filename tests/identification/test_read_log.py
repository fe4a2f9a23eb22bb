"""Reading logs: formats, names, units, repairs, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ReadError
from armdyn.identification.columns import understand


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
    with pytest.raises(ReadError, match="degrees"):
        armdyn.read_log(path, arm)


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
        with pytest.raises(ReadError, match=r"cut_off\..*cannot be read as a ROS 2 bag .* recover"):
            armdyn.read_log(cut_off, arm)
    lone.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match="cannot be read as a ROS 2 bag"):
        armdyn.read_log(tmp_path / "bag", arm)


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


@pytest.mark.parametrize(("names", "zero"), [("temp1_C,temp2_C", 0.0), ("temperature_1,temperature_2", 273.15)])
def test_temperatures(tmp_path, arm, data, names, zero):
    t, q, _, tau = data
    warm = np.stack([30 + t, 40 - t], axis=1)
    path = write(tmp_path / "a.csv", (t, q, warm + zero, tau), f"t,q1,q2,{names},tau1,tau2")
    np.testing.assert_allclose(armdyn.read_log(path, arm).temperature, warm - 25, atol=1e-9)
    np.testing.assert_allclose(armdyn.read_log(path, arm, reference_temperature=30).temperature, warm - 30, atol=1e-9)
    assert armdyn.read_log(write(tmp_path / "b.csv", data), arm).temperature is None


def test_commanded_values_are_not_measured_ones(tmp_path, arm, data):
    with pytest.raises(ReadError, match="no columns of joint positions"):
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
        for part in ("missing values", "not later", "repeat the measurement", "1 gaps (1 s at 1.99 s)"):
            assert part in text
        assert len(log) == 397
        assert len(log.stretches) == 2

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
        with pytest.raises(ReadError, match=r"a.csv, line 8: expected a number, got 'n/a\?'"):
            armdyn.read_log(path, arm)

    def test_three_samples(self, tmp_path, arm, data):
        with pytest.raises(ReadError, match="at least 50 samples, got 3"):
            armdyn.read_log(write(tmp_path / "a.csv", [x[:3] for x in data]), arm)

    def test_time_runs_backward(self, tmp_path, arm, data):
        with pytest.raises(ReadError, match="time does not rise"):
            armdyn.read_log(write(tmp_path / "a.csv", (data[0][::-1], *data[1:])), arm)

    def test_mostly_missing(self, tmp_path, arm, data):
        t, q, qd, tau = (x.copy() for x in data)
        tau[: len(t) // 2] = np.nan
        with pytest.raises(ReadError, match="200 of 400 rows have missing values"):
            armdyn.read_log(write(tmp_path / "a.csv", (t, q, qd, tau)), arm)

    @pytest.mark.parametrize(
        ("head", "message"),
        [
            ("t,a,b,c,d,e,f", "no columns of joint positions"),
            ("x,q1,q2,qd1,qd2,tau1,tau2", "no column of times"),
            ("t,q1,q3,qd1,qd2,tau1,tau2", "missing: 2"),
            ("t,q1,q2,q3,qd2,tau1,tau2", "3 columns of q for the 2 joints"),
            ("t,q1,q_1,qd1,qd2,tau1,tau2", "both claim"),
            ("0,1,2,3,4,5,6", "first line holds numbers"),
        ],
    )
    def test_headings(self, tmp_path, arm, data, head, message):
        with pytest.raises(ReadError, match=message):
            armdyn.read_log(write(tmp_path / "a.csv", data, head), arm)

    @pytest.mark.parametrize("name", ["a.npz", "a.mat", "a.parquet", "a.db3", "a.mcap", "a.csv", "a.xyz"])
    def test_garbage(self, tmp_path, arm, name):
        (tmp_path / name).write_bytes(bytes(range(256)) * 20)
        with pytest.raises(ReadError, match=name.replace(".", r"\.")):
            armdyn.read_log(tmp_path / name, arm)
        with pytest.raises(ReadError, match="no such file"):
            armdyn.read_log(tmp_path / f"missing_{name}", arm)


def test_understanding_names():
    joints = ("shoulder_pan_joint", "elbow_joint")
    assert understand("position_elbow_joint", joints)[:2] == ("q", "elbow_joint")
    assert understand("Torque 3 (Nm)", joints)[:3] == ("tau", "3", "nm")
    assert understand("comment", joints) is None

"""Arms as MJCF: new files, and numbers changed in the text of files that exist."""

import difflib
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, ModelError
from armdyn.model.convert import not_held

pytest.importorskip("mujoco")
from .test_read import LINKS, MODEL, largest_difference


@pytest.fixture
def model(tmp_path):
    (tmp_path / "arm.xml").write_text(MODEL)
    (tmp_path / "links.xml").write_text(LINKS)
    return tmp_path / "arm.xml"


@pytest.mark.parametrize("name", ["puma560", "panda", "ur10", "stanford", "scara", "iiwa14"])
def test_urdf_to_mjcf_to_urdf(tmp_path, name):
    arm = getattr(armdyn.arms, name)()
    bodies = [link.inertia for link in arm.links]
    if any(body.problems() or body.mass <= 0 or np.linalg.eigvalsh(body.tensor_com)[0] <= 0 for body in bodies):
        with raises(
            ModelError,
            cause=("link 'link1' cannot be written as MJCF: a moving body needs mass and inertia about every axis"),
            names=("link1",),
        ):
            arm.save(tmp_path / "a.xml")
        return
    arm.save(tmp_path / "a.xml")
    back = armdyn.load(tmp_path / "a.xml")
    assert back.tip_name == arm.tip_name
    scale = np.abs(arm.theta).max()
    np.testing.assert_allclose(back.theta, arm.theta, rtol=0, atol=1e-12 * scale)
    q = np.random.default_rng(0).uniform(-1, 1, (5, arm.n))
    np.testing.assert_allclose(armdyn.forward_kinematics(back, q), armdyn.forward_kinematics(arm, q), atol=1e-13)
    assert largest_difference(tmp_path / "a.xml", back) < 1e-10
    back.save(tmp_path / "a.urdf")
    np.testing.assert_allclose(armdyn.load(tmp_path / "a.urdf").theta, arm.theta, rtol=0, atol=1e-12 * scale)


def identified(arm):
    """The arm with other numbers in two links and one joint."""
    theta = arm.theta.copy()
    theta[:10] *= 1.1
    theta[30:40] *= 1.2
    joints = list(arm.joints)
    joints[0] = replace(joints[0], friction=armdyn.Friction(viscous=0.7, coulomb=0.2))
    return arm.with_theta(theta).with_joints(joints)


def changed_lines(before, after):
    return [x for x in difflib.ndiff(before.splitlines(), after.splitlines()) if x[:1] == "+"]


@pytest.mark.filterwarnings("ignore:.*has a damping ratio")
def test_only_identified_numbers_change(model, tmp_path):
    arm = armdyn.load(model, tip="tool")
    new = identified(arm)
    new.save(tmp_path / "out.xml", onto=model)
    back = armdyn.load(tmp_path / "out.xml", tip="tool")
    np.testing.assert_allclose(back.theta, new.theta, rtol=0, atol=1e-12)
    assert back.joints[0].friction == new.joints[0].friction
    assert [j.friction for j in back.joints[1:]] == [j.friction for j in arm.joints[1:]]
    assert "<!-- kept -->" in (tmp_path / "out.xml").read_text()
    lines = changed_lines(MODEL, (tmp_path / "out.xml").read_text())
    assert len(lines) == 1
    assert "out_links.xml" in lines[0]
    lines = changed_lines(LINKS, (tmp_path / "out_links.xml").read_text())
    assert len(lines) == 3  # two <inertial>, one <joint>
    assert not any("euler" in line or "diaginertia" in line for line in lines)
    # Bodies that ride on a link keep their own numbers: they are subtracted, not counted twice.
    assert (
        'name="welded" pos="0.03 0 0.1"><inertial pos="0 0 0.01" mass="0.3"' in (tmp_path / "out_links.xml").read_text()
    )
    assert largest_difference(tmp_path / "out.xml", back) < 1e-12


def test_an_unchanged_arm_changes_nothing(model, tmp_path):
    armdyn.load(model, tip="tool").save(tmp_path / "out.xml", onto=model)
    assert (tmp_path / "out.xml").read_text() == MODEL


def test_inertia_from_geometries_becomes_an_element(model, tmp_path):
    arm = armdyn.load(model, tip="tool")
    theta = arm.theta.copy()
    theta[20:30] *= 1.3
    with pytest.warns(ArmdynWarning, match="'servo' has a damping ratio, so its damping goes from"):
        arm.with_theta(theta).save(tmp_path / "out.xml", onto=model)
    back = armdyn.load(tmp_path / "out.xml", tip="tool")
    np.testing.assert_allclose(back.theta, theta, rtol=0, atol=1e-12)
    assert len(changed_lines(LINKS, (tmp_path / "out_links.xml").read_text())) == 1


def test_other_arms_and_settings_of_the_compiler_are_rejected(model, tmp_path):
    arm = armdyn.load(model, tip="tool")
    other = arm.with_joints([replace(j, axis=(1, 0, 0)) if j.name == "turn" else j for j in arm.joints])
    with raises(ModelError, cause="joint 'turn' is not where arm 'test arm' has it", names=("turn",)):
        other.save(tmp_path / "out.xml", onto=model)
    model.write_text(MODEL.replace('angle="degree"', 'angle="degree" settotalmass="9"'))
    with raises(
        ModelError,
        cause="MuJoCo changes the inertia of body 'shoulder' when it compiles",
        remedy=("remove inertiafromgeom, settotalmass, boundmass, boundinertia and balanceinertia from <compiler>"),
        names=("shoulder",),
    ):
        identified(armdyn.load(model, tip="tool")).save(tmp_path / "out.xml", onto=model)
    assert not (tmp_path / "out.xml").exists()


def test_what_mjcf_cannot_hold_is_listed():
    arm = armdyn.arms.panda()
    friction = armdyn.Friction(viscous=1.0, coulomb=0.5, static=0.8, load=0.1)
    joints = [replace(arm.joints[0], friction=friction), *arm.joints[1:]]
    assert any("load" in line and "static" in line for line in not_held(arm.with_joints(joints), ".xml"))


PART = """<mujocoinclude><body name="b{k}" pos="0.1 0 0.2">
<inertial pos="0.1 0.02 0" mass="{k}" diaginertia="0.1 0.2 0.25"/>
<joint name="j{k}" axis="0 1 {k}" damping="0.1"/>{inner}</body></mujocoinclude>"""
# By file: all paths are relative to the main model's folder, as MuJoCo takes them.
LAYOUTS = {
    "nested": {"main": "a.xml", "a.xml": "b.xml", "b.xml": ""},
    "nested thrice": {"main": "a.xml", "a.xml": "parts/b.xml", "parts/b.xml": "parts/c.xml", "parts/c.xml": ""},
    "through another folder": {"main": "parts/../b.xml", "b.xml": "", "parts/unused.xml": ""},
    "two slashes": {"main": ".//b.xml", "b.xml": ".//parts/../c.xml", "c.xml": "", "parts/unused.xml": ""},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("which", ["all", "last"])
def test_included_files_are_written_however_they_are_reached(tmp_path, monkeypatch, layout, which):
    """MuJoCo makes of the files that are written the torques that the arm has, and the old files stay."""
    (tmp_path / "parts").mkdir()
    files = dict(LAYOUTS[layout])
    main = tmp_path / "main.xml"
    main.write_text(f'<mujoco><worldbody><include file="{files.pop("main")}"/></worldbody></mujoco>')
    for k, (name, include) in enumerate(files.items(), start=1):
        inner = f"<include file='{include}'/>" if include else ""
        (tmp_path / name).write_text(PART.format(k=k, inner=inner))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.xml")}
    monkeypatch.chdir("/")  # nothing is found by chance
    arm = armdyn.load(main)
    factors = np.ones(arm.n) if which == "last" else np.full(arm.n, 1.5)
    factors[-1] = 2.0
    new = arm.with_theta(arm.theta * np.repeat(factors, 10))
    new.save(tmp_path / "out.xml", onto=main)
    assert largest_difference(tmp_path / "out.xml", new) < 1e-12
    assert {path: path.read_bytes() for path in before} == before


DRIVEN = """<mujoco>{option}<worldbody><body name="b"><joint name="j" axis="0 1 0" damping="0.3" armature="0.5"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody>
<actuator><motor joint="j" gear="3" armature="0.2" damping="0.1"/></actuator></mujoco>"""


def rubbing(arm, viscous, inertia):
    joint = replace(arm.joints[0], friction=armdyn.Friction(viscous=viscous), drive=armdyn.Drive(rotor_inertia=inertia))
    return arm.with_joints([joint])


def test_joints_are_written_less_what_their_actuators_add(tmp_path):
    (tmp_path / "in.xml").write_text(DRIVEN.format(option=""))
    arm = armdyn.load(tmp_path / "in.xml")
    rubbing(arm, 2.0, 3.0).save(tmp_path / "out.xml", onto=tmp_path / "in.xml")
    joint = armdyn.load(tmp_path / "out.xml").joints[0]
    assert (joint.friction.viscous, joint.drive.reflected_inertia) == pytest.approx((2.0, 3.0), abs=1e-12)
    with raises(
        ModelError, cause=re.compile(r"actuators of joint 'j' have a damping of 0\.9, more than the 0\.5"), names=("j",)
    ):
        rubbing(arm, 0.5, 3.0).save(tmp_path / "less.xml", onto=tmp_path / "in.xml")
    assert not (tmp_path / "less.xml").exists()


def test_what_a_flag_disables_is_not_written(tmp_path):
    (tmp_path / "in.xml").write_text(DRIVEN.format(option='<option><flag damper="disable"/></option>'))
    arm = armdyn.load(tmp_path / "in.xml")
    with raises(ModelError, names=("j",), remedy="remove the <flag> in <option> that disables it"):
        rubbing(arm, 2.0, 3.0).save(tmp_path / "out.xml", onto=tmp_path / "in.xml")
    assert not (tmp_path / "out.xml").exists()


MESH = """v 0 0 0
v 0.1 0 0
v 0 0.1 0
v 0 0 0.1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


@pytest.mark.parametrize(
    "compiler",
    [
        "",
        '<compiler angle="radian"/>',
        '<compiler meshdir="assets"/>',
        '<compiler assetdir="a" texturedir="b"/><compiler meshdir="assets/"/>',
    ],
)
def test_a_model_in_another_folder_finds_its_meshes(tmp_path, monkeypatch, compiler):
    """MuJoCo opens what is written elsewhere, as it opens the model that it came from."""
    import mujoco

    home = tmp_path / "R&D 'arm'"
    assets = home / ("assets" if "assets" in compiler else ".")
    assets.mkdir(parents=True)
    (assets / "link.obj").write_text(MESH)
    (home / "arm.xml").write_text(
        f"""<mujoco model="meshes">{compiler}<asset><mesh name="m" file="link.obj"/></asset><worldbody>
        <body name="b"><inertial pos="0.1 0.02 0" mass="1" diaginertia="0.1 0.2 0.25"/><joint name="j" axis="0 0 1"/>
        <geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    )
    arm = armdyn.load(home / "arm.xml")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    arm.with_theta(1.1 * arm.theta).save("out/new.xml", onto=home / "arm.xml")
    monkeypatch.chdir("/")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "new.xml")).nmesh == 1
    back = armdyn.load(tmp_path / "out" / "new.xml")
    np.testing.assert_allclose(back.theta, 1.1 * arm.theta, rtol=0, atol=1e-12)

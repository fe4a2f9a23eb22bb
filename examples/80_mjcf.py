"""A MuJoCo model in, identified numbers back into the same file: comments and all else stay.

Run it: python examples/80_mjcf.py (needs the extra `mujoco`)
"""

import difflib
import tempfile
from pathlib import Path

import numpy as np

import armdyn
from armdyn.errors import install_command

MODEL = """<mujoco model="two">
  <default><joint damping="0.2"/></default>
  <worldbody>
    <!-- the upper arm is a casting -->
    <body name="upper"><joint name="shoulder" axis="0 1 0" armature="0.01"/>
      <inertial pos="0 0 0.2" mass="2" diaginertia="0.03 0.03 0.002"/>
      <body name="lower" pos="0 0 0.4"><joint name="elbow" axis="0 1 0" frictionloss="0.1"/>
        <inertial pos="0 0 0.15" mass="1" diaginertia="0.01 0.01 0.001"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def main() -> None:
    try:
        import mujoco  # noqa: F401
    except ImportError:
        print(f"MuJoCo is not installed: {install_command('mujoco')}")
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "two.xml", Path(folder) / "identified.xml"
        source.write_text(MODEL)
        arm = armdyn.load(source, tip="lower")
        print(arm, "gravity torque at 0.5 rad:", np.round(armdyn.gravity_torque(arm, [0.5, 0.5]), 3))
        heavier = arm.with_payload(0.3, [0, 0, 0.3])  # stands for what identification found
        heavier.save(target, onto=source)
        lines = difflib.unified_diff(MODEL.splitlines(), target.read_text().splitlines(), lineterm="", n=0)
        changed = [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
        print("\n".join(changed))
        assert len(changed) == 2
        again = armdyn.load(target, tip="lower")
        assert np.allclose(again.theta, heavier.theta, rtol=0, atol=1e-12)


if __name__ == "__main__":
    main()

"""A changed arm written back onto the URDF it came from, so that meshes and frames stay.

Bodies on fixed joints (here a load in the hand) are merged into the link that carries them; writing back
does not count them twice.
"""

import tempfile
from pathlib import Path

import armdyn

folder = Path(tempfile.mkdtemp())
original, updated = folder / "ur10.urdf", folder / "ur10_updated.urdf"

armdyn.arms.ur10().with_payload(0.8, com=[0, 0, 0.05]).save(original)
arm = armdyn.load(original)
print(f"loaded   {arm}, {arm.theta[::10].sum():.3f} kg")

arm.with_theta(1.05 * arm.theta).save(updated, onto=original)  # five percent heavier, as if identified
again = armdyn.load(updated)
print(f"reloaded {again}, {again.theta[::10].sum():.3f} kg")

print("what may hurt later:")
for finding in armdyn.diagnose(again):
    print(f"  {finding}")

"""How large an arm is, so that millimetres and hundreds of metres are solved alike."""

from __future__ import annotations

import numpy as np

from armdyn.frozen import compute_once
from armdyn.model.arm import Arm


@compute_once
def magnitude(arm: Arm) -> float:
    """Unit of length that suits an arm [m]: 1 from a decimetre to ten metres, beyond that its power of ten.

    Its length is that of the way from its first joint to the tip, from frame to frame; where all frames coincide
    (joints that slide alone) nothing is known, and it is 1.
    """
    steps = [joint.after for joint in arm.joints] + [joint.before for joint in arm.joints[1:]] + [arm.tool_pose]
    length = sum(float(np.linalg.norm(T[:3, 3])) for T in steps)
    exponent = np.log10(length) if 0 < length < np.inf else 0.0
    return 10.0 ** round(exponent) if abs(exponent) > 1 else 1.0

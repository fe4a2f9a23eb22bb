"""How large an arm is, so that millimetres and hundreds of metres are solved alike."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from armdyn.model.arm import Arm

# Arms never change, and iterations ask often.
_known: WeakKeyDictionary[Arm, float] = WeakKeyDictionary()


def magnitude(arm: Arm) -> float:
    """Unit of length that suits an arm [m]: 1 from a decimetre to ten metres, beyond that its power of ten.

    Its length is that of the way from its first joint to the tip, from frame to frame; where all frames coincide
    (joints that slide alone) nothing is known, and it is 1.
    """
    if arm not in _known:
        _known[arm] = _magnitude(arm)
    return _known[arm]


def _magnitude(arm: Arm) -> float:
    steps = [joint.after for joint in arm.joints] + [joint.before for joint in arm.joints[1:]] + [arm.tool_pose]
    length = sum(float(np.linalg.norm(T[:3, 3])) for T in steps)
    exponent = np.log10(length) if 0 < length < np.inf else 0.0
    return 10.0 ** round(exponent) if abs(exponent) > 1 else 1.0

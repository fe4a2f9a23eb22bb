"""What data can and cannot support: rejections and warnings of `identify`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.reduction import arm_size
from armdyn.errors import ArmdynWarning, DataError
from armdyn.identification.checks.check import DataCheck
from armdyn.identification.checks.finding import Finding
from armdyn.model.arm import Arm

REFUSED = 0.5  # relative error above which a model explains nothing
DOUBTFUL = 0.2
HASTY = 0.1  # share of gravity with which links may accelerate where gravity alone is identified
COSTLY = 0.5  # by which physically consistent bodies may have more error than free parameters
MOST_NAMED = 8
MOST_TOLD = 10.0  # relative errors beyond are nonsense, however large
PACKAGE = str(Path(__file__).parents[2])


def doubt(text: str) -> None:
    """Warn, at the line outside the package that asked."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _own(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, ArmdynWarning, stacklevel=level)


def _own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


def doubt_findings(arm: Arm, checks: tuple[DataCheck, ...], together: tuple[Finding, ...]) -> None:
    """Warn of what the checks of the logs found doubtful, of each and of all together."""
    found = [(check.log.name, finding) for check in checks for finding in check.findings]
    for name, finding in [*found, *((f"logs of arm '{arm.name}'", finding) for finding in together)]:
        if finding.level == "warn":
            doubt(f"{name}: {finding.text}")


def doubt_haste(arm: Arm, checks: tuple[DataCheck, ...]) -> None:
    """Inertia is left out of a model of gravity, and must not matter: links' accelerations against gravity's."""
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    lever = np.where(turns, arm_size(arm), 1.0)
    haste = max(float(np.max(check.joints.acceleration * lever)) for check in checks)
    if haste > HASTY * np.linalg.norm(arm.gravity):
        doubt(
            f"identify: the motion is too fast for gravity alone: links accelerate with up to {haste:.2g} m/s²; move "
            "slowly, hold poses, or identify all terms"
        )


def doubt_undetermined(names: tuple[str, ...]) -> None:
    """Warn of parameters on which the logs have no say."""
    if names:
        more = " ..." if len(names) > MOST_NAMED else ""
        doubt(
            f"identify: the logs do not determine {', '.join(names[:MOST_NAMED])}{more}; "
            "excite all joints (see the report)"
        )


def doubt_unexplained(arm: Arm, error: float, held_out: float) -> None:
    """Warn of a model that leaves much unexplained."""
    if max(held_out, error) > DOUBTFUL:
        doubt(
            f"identify: arm '{arm.name}' leaves {error:.0%} of the logs' torque unexplained, "
            f"{held_out:.0%} on held-out data: another arm, other units, or torques that are not joint torques?"
        )


def doubt_cost(cost: float, arm: Arm) -> None:
    """Warn where physically consistent bodies explain much less than parameters that need not be possible."""
    if cost > COSTLY:
        doubt(
            f"identify: physically consistent bodies of arm '{arm.name}' have {cost:.0%} more error on held-out data "
            "than free parameters: drives with rotors, springs or balancers, bounds of masses that are wrong, or "
            "another arm?"
        )


def require_explained(arm: Arm, error: float, where: str) -> None:
    """Reject a model that explains nothing."""
    if not error <= REFUSED:
        told = f"{error:.0%}" if error < MOST_TOLD else "all"
        raise DataError(
            f"identify: arm '{arm.name}' leaves {told} of the torque unexplained {where}; "
            "another arm, other units, or torques that are not joint torques?"
        )


def require_brakes(arm: Arm, braking: NDArray, sigma: NDArray, size: NDArray) -> None:
    """Reject torques with which friction (n,) would drive a joint: their sign is reversed.

    `sigma` is friction's standard deviation, `size` the rms of the joint's torque.
    """
    for j in np.flatnonzero(braking < -np.maximum(5 * sigma, 0.003 * size)):
        raise DataError(
            f"identify: friction of joint {j + 1} '{arm.joint_names[j]}' would drive it ({braking[j]:.3g} at half its "
            "top speed): is the sign of its torque or position reversed?"
        )

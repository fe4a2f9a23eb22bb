"""Warnings of `identify`: what data cannot support."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from armdyn.dynamics.base.reduction import arm_size
from armdyn.errors import ArmdynWarning
from armdyn.identification.hypotheses.check import DataCheck
from armdyn.identification.hypotheses.finding import Finding
from armdyn.identification.limits import CAREFUL_ERROR
from armdyn.identification.logs.columns import some_names
from armdyn.model.arm import Arm

PACKAGE = str(Path(__file__).parents[2])


def warn(text: str) -> None:
    """Warn, at the line outside the package that asked."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, ArmdynWarning, stacklevel=level)


def warn_of_findings(arm: Arm, checks: tuple[DataCheck, ...], together: tuple[Finding, ...]) -> None:
    """Warn of what the checks of the logs found, of each and of all together."""
    per_log = [(check.log.name, finding) for check in checks for finding in check.findings]
    for name, finding in [*per_log, *((f"logs of arm '{arm.name}'", finding) for finding in together)]:
        if finding.level == "warn":
            warn(f"{name}: {finding.text}")


def warn_if_too_fast(arm: Arm, checks: tuple[DataCheck, ...]) -> None:
    """Inertia is left out of a model of gravity, and must not matter: links' accelerations against gravity's."""
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    lever = np.where(turns, arm_size(arm), 1.0)
    fastest = max(float(np.max(check.joints.acceleration * lever)) for check in checks)
    if fastest > CAREFUL_ERROR * np.linalg.norm(arm.gravity):
        warn(
            f"identify: the motion is too fast for gravity alone: links accelerate with up to {fastest:.2g} m/s²; move "
            "slowly, hold poses, or identify all terms"
        )


def warn_of_undetermined(names: tuple[str, ...]) -> None:
    """Warn of parameters on which the logs have no say."""
    if names:
        warn(f"identify: the logs do not determine {some_names(names)}; excite all joints")

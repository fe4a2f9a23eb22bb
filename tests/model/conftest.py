"""What the tests of descriptions share: small URDFs, and Pinocchio as an independent reader of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armdyn.trace import backend


@pytest.fixture(autouse=True)
def on_virtual_machine() -> Iterator[None]:
    """Descriptions are compared by what they compute, for which nothing need be compiled."""
    with backend.using("virtual"):
        yield


@pytest.fixture(scope="session")
def urdfs() -> Path:
    """The folder of this project's own small URDFs."""
    return Path(__file__).parents[1] / "data" / "urdf"


@pytest.fixture
def edited(urdfs: Path, tmp_path: Path) -> Callable[..., Path]:
    """`edited("gripper", ("old", "new"), ...)`: the path of a URDF with text replaced, each old text once."""

    def edit(name: str, *changes: tuple[str, str]) -> Path:
        text = (urdfs / f"{name}.urdf").read_text()
        for old, new in changes:
            assert text.count(old) >= 1, f"{old!r} is not in {name}.urdf"
            text = text.replace(old, new, 1)
        path = tmp_path / "edited.urdf"
        path.write_text(text)
        return path

    return edit


class PinocchioChain:
    """A model of Pinocchio whose joints off the chain are locked at zero, in armdyn's coordinates."""

    def __init__(self, path: Path, joint_names: tuple[str, ...]) -> None:
        pin = pytest.importorskip("pinocchio")
        model = pin.buildModelFromUrdf(str(path))
        others = [i for i in range(1, model.njoints) if model.names[i] not in joint_names]
        self.pin, self.model = pin, pin.buildReducedModel(model, others, pin.neutral(model))
        self.data = self.model.createData()
        assert tuple(self.model.names)[1:] == joint_names

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's coordinates: cosine and sine for joints without end stops."""
        parts = [
            [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
            for x, joint in zip(q, list(self.model.joints)[1:], strict=True)
        ]
        return np.concatenate(parts)

    def torques(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        rows = zip(q, qd, qdd, strict=True)
        return np.array([self.pin.rnea(self.model, self.data, self.configuration(a), b, c) for a, b, c in rows])

    def poses(self, q: np.ndarray, frames: tuple[str, ...], base: str) -> np.ndarray:
        """Poses (N, len(frames), 4, 4) of named frames in frame `base`."""
        out = []
        for row in q:
            self.pin.framesForwardKinematics(self.model, self.data, self.configuration(row))
            T = {name: self.data.oMf[self.model.getFrameId(name)] for name in (*frames, base)}
            out.append([(T[base].inverse() * T[name]).homogeneous for name in frames])
        return np.array(out)


@pytest.fixture
def pinocchio_chain() -> Callable[[Path, tuple[str, ...]], Any]:
    """`pinocchio_chain(path, joint_names)`: what Pinocchio makes of the file."""
    return PinocchioChain

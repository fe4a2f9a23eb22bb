"""How accurate a model must be for computed torque: where the loop's poles go when parameters are uncertain.

With a model (hats) that is not the arm, the error of computed torque about a motion obeys, linearised,

    M x'' + (C - C_hat + M_hat kd) x' + (K - K_hat + M_hat kp) x = 0,

M, C, K being the derivatives of the torques by accelerations, velocities and positions (`linearize`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import is_whole
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.settings import as_numbers
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.dynamics.linear.linearize import linearize
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import expect
from armdyn.numerals import CONFIDENCE
from armdyn.trajectory.protocol import JointMotion

# Frequencies, over a joint's own, at which its distance from instability is looked for.
FREQUENCIES = np.linspace(0.0, 3.0, 301)


class PoleRegions(NamedTuple):
    """Regions that poles stay in; radii and distances are parts of each joint's own frequency."""

    designed: NDArray  # (n, 2) complex [1/s]
    poles: NDArray  # (samples, T, 2 n) complex [1/s]
    slowest: float  # largest real part that 95 % of the samples stay below [1/s]
    stable: float  # part of the samples all of whose poles are stable
    radius: NDArray  # (n,) of the regions about the designed poles, which hold 95 % of the samples
    distance: NDArray  # (n,) radius at which a region reaches the right half-plane
    names: tuple[str, ...]  # parameters, the one that matters most first
    importance: NDArray  # (p,) how far the poles move when it is off by its standard deviation

    @property
    def guaranteed(self) -> bool:
        """Whether the regions prove stability: block Gershgorin, sufficient but far from necessary."""
        return bool((self.radius < self.distance).all())

    def __str__(self) -> str:
        proof = "the regions prove it" if self.guaranteed else "the regions do not prove it"
        lines = [f"stable in {self.stable:.1%} of the samples ({proof}); slowest pole {self.slowest:.3g} /s"]
        lines += [f"  {name:40s}{x:9.2%}" for name, x in zip(self.names[:10], self.importance, strict=False)]
        return "\n".join(lines)


def pole_regions(
    law: ComputedTorque,
    base: BaseParameters,
    uncertainty: ArrayLike,
    motion: JointMotion,
    samples: int = 200,
    seed: int = 0,
) -> PoleRegions:
    """The poles of computed torque over the uncertainty of an identified model, and the parameters that matter.

    Parameters
    ----------
    law : ComputedTorque
        Law with the identified model.
    base : BaseParameters
        Base parameters of the same arm.
    uncertainty : array_like, shape (p,) or (p, p)
        Standard deviations of the base parameters, or their covariance.
    motion : JointMotion
        Samples (T, n) at which the loop is frozen.
    samples : int
        True arms that are drawn.
    seed : int

    Returns
    -------
    PoleRegions

    References
    ----------
    Egeland (1986), On the robustness of the computed torque technique in manipulator control; Kapadia, section 2.5.
    """
    expect(isinstance(law, ComputedTorque), "pole_regions", "a ComputedTorque law", law)
    expect(is_whole(samples, least=1), "pole_regions", "a number of samples >= 1", samples)
    covariance = _covariance(uncertainty, base.count)
    off = np.random.default_rng(seed).multivariate_normal(np.zeros(base.count), covariance, samples, method="eigh")
    std = np.sqrt(np.diag(covariance))
    A0 = _loops(law, base, np.zeros((1, base.count)), motion)[0]
    A = _loops(law, base, off, motion)
    poles = np.linalg.eigvals(A)
    worst = poles.real.max((1, 2))
    w = np.sqrt(np.asarray(law.kp))
    shifts = _scale(_loops(law, base, np.diag(std), motion) - A0, w)
    importance = np.sqrt((shifts**2).sum((-1, -2)).mean(-1))
    order = np.argsort(-importance, kind="stable")
    gains = zip(np.asarray(law.kp), np.asarray(law.kd), strict=True)
    designed = np.stack([np.roots([1.0, kd, kp]) for kp, kd in gains])
    return PoleRegions(
        designed, poles, float(np.quantile(worst, CONFIDENCE)), float((worst < 0).mean()),
        np.quantile(_rows(_scale(A - A0, w)).max(1), CONFIDENCE, axis=0), _distances(law, w),
        tuple(base.names[k] for k in order), importance[order],
    )  # fmt: skip


def _covariance(uncertainty: ArrayLike, count: int) -> NDArray:
    values = as_numbers(uncertainty, "pole_regions: uncertainty")
    fits = values.shape in ((count,), (count, count)) and np.isfinite(values).all()
    expected = f"{count} finite standard deviations or a covariance ({count}, {count})"
    expect(fits, "pole_regions", expected, got=f"shape {values.shape}")
    covariance = np.diag(values**2) if values.ndim == 1 else (values + values.T) / 2
    least = np.linalg.eigvalsh(covariance).min()
    expect(least >= -1e-9 * np.abs(covariance).max(), "pole_regions", "a positive semidefinite covariance")
    return covariance


def _loops(law: ComputedTorque, base: BaseParameters, off: NDArray, motion: JointMotion) -> NDArray:
    """Matrices (samples, T, 2 n, 2 n) of loops whose true arms differ from the model by base parameters `off`."""
    arm = law.arm
    theta = (arm.theta + base.expand(off))[:, None, :]
    hat, true = linearize(arm, *motion), linearize(arm, *motion, theta=theta)
    rotors = augmented_mass_matrix(arm, motion.q) - mass_matrix(arm, motion.q)
    M, M_hat = true.M + rotors, hat.M + rotors
    lower = np.concatenate(
        [hat.K - true.K - M_hat * np.asarray(law.kp), hat.C - true.C - M_hat * np.asarray(law.kd)], axis=-1
    )
    A = np.zeros((*lower.shape[:-2], 2 * arm.n, 2 * arm.n))
    A[..., : arm.n, arm.n :] = np.eye(arm.n)
    A[..., arm.n :, :] = np.linalg.solve(M, lower)
    return A


def _scale(A: NDArray, w: NDArray) -> NDArray:
    """Matrices over states [x, x' / w], as parts of each joint's own frequency."""
    scale = np.concatenate([np.ones_like(w), 1 / w])
    return scale[:, None] * A / scale / np.concatenate([w, w])[:, None]


def _rows(A: NDArray) -> NDArray:
    """Sums (..., n) over each joint's row of blocks of their norms."""
    n = A.shape[-1] // 2
    blocks = np.moveaxis(A.reshape(*A.shape[:-2], 2, n, 2, n), -3, -2)  # (..., 2, 2, n, n)
    norms = np.linalg.norm(np.moveaxis(blocks, (-4, -3), (-2, -1)), ord=2, axis=(-2, -1))
    return norms.sum(-1)


def _distances(law: ComputedTorque, w: NDArray) -> NDArray:
    """Return how far each joint's own pair of poles is from instability: least singular value of iw - A on the axis."""
    distances = []
    for kp, kd, frequency in zip(np.asarray(law.kp), np.asarray(law.kd), w, strict=True):
        A = np.array([[0.0, 1.0], [-kp / frequency**2, -kd / frequency]])
        values = np.linalg.svd(1j * FREQUENCIES[:, None, None] * np.eye(2) - A, compute_uv=False)
        distances.append(values[:, -1].min())
    return np.array(distances)

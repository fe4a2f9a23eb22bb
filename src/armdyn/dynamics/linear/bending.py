"""Where bending of links begins to matter: a rule of thumb for an arm whose model has rigid links.

A link is a uniform beam clamped at its joint, with all that lies beyond it as a rigid body at its end. Its lowest
bending frequency follows from the beam's stiffnesses and consistent masses at the end (deflection and slope); the links
of an arm together are, by Dunkerley's rule, 1/f² = sum of 1/f_i², which errs to the safe side. Rigid models and
controllers serve while the bandwidth stays below about a third of f; beyond, tip errors of some a/(2 pi f)² under an
acceleration a are not seen by the joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array, row_of
from armdyn.errors import ModelError
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import STANDARD_GRAVITY, Arm
from armdyn.model.mechanism import require_chain
from armdyn.precision import SIX_DIGITS
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import rotation_from_z
from armdyn.spatial.transform import inverse, transform

# Bandwidths above this part of the lowest bending frequency, joints clamped, excite it: a usual rule, see Book (1993).
BANDWIDTH_RATIO = 1 / 3


class Bending(NamedTuple):
    """Bending of an arm's links at one posture."""

    frequencies: NDArray  # (n,) lowest of each link by itself, the others rigid [Hz]; infinite where it cannot bend
    frequency: float  # lowest of all links together [Hz]
    sag: float  # of the tip under gravity across the links, at the most [m]
    largest_bandwidth: float  # up to which links may be taken as rigid [Hz]

    def matters(self, bandwidth: float) -> bool:
        """Whether a controller of this bandwidth [Hz] excites the links' bending."""
        return bandwidth > self.largest_bandwidth


def link_bending(arm: Arm, q: ArrayLike, stiffness: ArrayLike) -> Bending:
    """Lowest bending frequencies of an arm's links, joints held, and the bandwidth up to which they may be neglected.

    Parameters
    ----------
    arm : Arm
        A serial chain with known inertia.
    q : array_like, shape (n,)
        Posture; the stretched arm is the softest.
    stiffness : float or array_like, shape (n,)
        Bending stiffness E I of each link [N m²]: for a tube of radius r and wall s about E pi r³ s; infinite: rigid.

    Returns
    -------
    Bending

    References
    ----------
    Eindhoven (1987), section 5.1, names the bending of links and leaves it out. Blevins (1979), Formulas for natural
    frequency and mode shape; Book (1993), Controlled motion in an elastic world, Journal of Dynamic Systems,
    Measurement, and Control 115.
    """
    require_chain(arm, "link_bending")
    posture = finite_array(q, (arm.n,), "link_bending: q")
    EI = row_of(stiffness, arm.n, "link_bending: stiffness", sign=">")
    if np.isnan(arm.theta).any():
        cause = f"the inertia of arm '{arm.name}' is unknown"
        raise ModelError(cause, where="link_bending", remedy="give its links mass")
    poses = link_poses(arm, posture)
    places = [T[:3, 3] - T[:3, :3] @ _from_joint(arm, i) for i, T in enumerate(poses)]
    places.append(forward_kinematics(arm, posture)[:3, 3])
    bodies = [link.inertia.moved(T) for link, T in zip(arm.links, poses, strict=True)]  # about the base's origin
    beyond, softness, frequencies = Inertia(np.zeros(10)), 0.0, np.full(arm.n, np.inf)
    for i in reversed(range(arm.n)):
        span = places[i + 1] - places[i]
        length = float(np.linalg.norm(span))
        # Links of no length do not bend.
        if length > SIX_DIGITS and np.isfinite(EI[i]):
            at_end = beyond.moved(inverse(transform(rotation_from_z(span / length), places[i + 1])))
            beam = Beam(length, arm.links[i].inertia.mass, float(EI[i]))
            frequencies[i] = beam.frequency(at_end)
            softness += beam.sag(at_end, float(np.linalg.norm(places[-1] - places[i + 1])))
        beyond = beyond + bodies[i]
    lowest = float(1 / np.sqrt(np.sum(frequencies**-2.0))) if np.isfinite(frequencies).any() else np.inf
    return Bending(frequencies, lowest, softness, BANDWIDTH_RATIO * lowest)


class Beam(NamedTuple):
    """A uniform beam, clamped at its beginning, that carries a body at its end; z of the body's axes is along it."""

    length: float
    mass: float
    EI: float

    def frequency(self, body: Inertia) -> float:
        """Lowest bending frequency [Hz], of the softer of two planes across the beam."""
        L, m = self.length, self.mass
        K = self.EI / L**3 * np.array([[12.0, -6 * L], [-6 * L, 4 * L**2]])  # of deflection and slope at the end
        mass_matrix = m / 420 * np.array([[156.0, -22 * L], [-22 * L, 4 * L**2]])  # consistent masses (Blevins 1979)
        slowest = 0.0
        for across in (0, 1):
            offset = body.first[2]
            carried = np.array([[body.mass, offset], [offset, body.tensor[across, across]]])
            slowest = max(slowest, float(np.linalg.eigvals(np.linalg.solve(K, mass_matrix + carried)).real.max()))
        return 1 / (2 * np.pi * np.sqrt(slowest)) if slowest > 0 else np.inf

    def sag(self, body: Inertia, lever: float) -> float:
        """Deflection of a tip that is `lever` [m] beyond the end, under gravity across the beam [m]."""
        L, g = self.length, float(np.linalg.norm(STANDARD_GRAVITY))
        weight, beam_weight = g * body.mass, g * self.mass
        moment = g * float(np.linalg.norm(body.first))
        deflection = weight * L**3 / 3 + moment * L**2 / 2 + beam_weight * L**3 / 8
        slope = weight * L**2 / 2 + moment * L + beam_weight * L**2 / 6
        return (deflection + lever * slope) / self.EI


def _from_joint(arm: Arm, i: int) -> NDArray:
    """Return the vector from the joint's point to the link's origin, in link axes, at position zero of a sliding
    joint.
    """
    after = arm.joints[i].after
    return np.asarray(after[:3, :3].T @ after[:3, 3])

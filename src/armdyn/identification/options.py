"""Options of `identify` in three parts, and its single keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import ArmdynError, DataError
from armdyn.identification.fit.rows import FORMS
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.differentiate import AUTO, METHODS
from armdyn.identification.motion.track import BAND_HZ, CUTOFF_HZ, DIRECTION_WIDTH, Filters
from armdyn.keywords import merge_keywords


@dataclass(frozen=True, eq=False)
class ModelOptions:
    """Model to identify, and what is known of it beforehand.

    Parameters
    ----------
    terms : {"full", "gravity"}
        All dynamics; or gravity alone, from poses held still (which are averaged) or, together with friction, from
        slow motion both ways.
    friction : {"auto", "simple"}
        A dictionary of terms weighed by the evidence, or viscous, Coulomb and offset for every joint.
    springs : bool, optional
        Whether joints may have springs to ground (hoses); on other arms they would be mistaken for gravity. Default:
        if the arm's description has any.
    balancers : iterable of str, optional
        Names of joints with gas springs, hydraulic or other balancers, whose torque depends on the joint's position.
        Default: those that have some in the arm's description. Counterweights are links like others.
    rotors : bool, optional
        Whether drives have rotor inertia beyond that of the links, as geared ones do. Default: those
        of the description, and others as far as the logs support them.
    coupling : str, list of str, or array_like, shape (n, n), optional
        Drives that move several joints: "5+6" if that of joint 6 turns with q5 + q6, and so on as in
        `Arm.with_coupling`; "none" for none. Default: as described; where nothing is, a drive that the logs clearly
        show to move two neighbours is taken as such, and noted in `fit.findings`.
    prior : float, optional
        Strength of the arm's own inertia as a prior; 0 disregards it. Default by held-out error.
    mass : array_like, shape (2,) or (n, 2), optional
        Least and most that all moving links together weigh, as a data sheet tells, or each of them [kg].
    """

    terms: str = "full"
    friction: str = "auto"
    springs: bool | None = None
    balancers: Iterable[str] | None = None
    rotors: bool | None = None
    coupling: str | Iterable[str] | ArrayLike | None = None
    prior: float | None = None
    mass: ArrayLike | None = None

    def __post_init__(self) -> None:
        require_word("terms", self.terms, ("full", "gravity"))
        require_word("friction", self.friction, ("auto", "simple"))
        if self.prior is not None and not 0 <= self.prior < np.inf:
            raise ArmdynError(where="identify", expected="prior >= 0", got=self.prior)


@dataclass(frozen=True)
class SmoothingOptions:
    """Filters of positions and torques, and the form of the equations.

    Parameters
    ----------
    band : float, optional
        Corner of the low-pass on both sides of the equations [Hz]; default 5.
    cutoff : float, optional
        Corner of the low-pass on positions [Hz]; default 10.
    method : {"auto", "butterworth", "kalman", "savgol", "spline"}
        How positions are differentiated; "auto" is "butterworth", or measured velocities where these are better.
    form : {"torque", "filtered", "energy"}
        Whether the regressor has accelerations, or momenta are low-passed and differentiated at once, or energies, of
        all joints together: then held-out errors are those of the power.
    """

    band: float | None = None
    cutoff: float | None = None
    method: str = AUTO
    form: str = FORMS[0]

    def __post_init__(self) -> None:
        require_word("method", self.method, (AUTO, *METHODS))
        require_word("form", self.form, FORMS)
        for name, value in (("band", self.band), ("cutoff", self.cutoff)):
            if value is not None and not 0 < value < np.inf:
                raise ArmdynError(where="identify", expected=f"{name} > 0 [Hz]", got=value)

    def require_rate(self, log: Log) -> None:
        """Raise where the log has too few samples for the low-pass."""
        highest = 0.5 / log.dt
        if not log.still and self.band is not None and self.band >= highest:
            expected = f"band below {highest:.4g} Hz, half the rate of the samples"
            raise DataError(where=log.name, expected=expected, got=self.band)

    def filters(self, delay: float | None = None) -> Filters:
        """Settings of the smoothing, with defaults for what is left open."""
        method = METHODS[0] if self.method == AUTO else self.method
        band, cutoff = float(self.band or BAND_HZ), self.cutoff or CUTOFF_HZ
        return Filters(band, cutoff, method, self.form, width=DIRECTION_WIDTH, delay=delay or 0.0)

    @property
    def open(self) -> bool:
        """Whether held-out blocks may choose the smoothing."""
        return self == SmoothingOptions(band=self.band)


@dataclass(frozen=True, eq=False)
class CorrectionOptions:
    """Corrections of all logs that are known beforehand.

    Parameters
    ----------
    delay : float, optional
        Delay of torques relative to positions [s]; default: estimated, up to 0.05.
    zero : mapping of str to float, optional
        Errors of joint zeros, by joint name [rad or m]: subtracted from the positions of all logs.
    without_torque : iterable of str
        Names of joints whose torques are not to be used, as if no sensor had measured them (NaN in the logs). All
        else is identified; their friction and rotors stay as described.
    """

    delay: float | None = None
    zero: Mapping[str, float] | None = None
    without_torque: Iterable[str] = ()


class ModelKeywords(TypedDict, total=False):
    """Fields of `ModelOptions`."""

    terms: str
    friction: str
    springs: bool | None
    balancers: Iterable[str] | None
    rotors: bool | None
    coupling: str | Iterable[str] | ArrayLike | None
    prior: float | None
    mass: ArrayLike | None


class SmoothingKeywords(TypedDict, total=False):
    """Fields of `SmoothingOptions`."""

    band: float | None
    cutoff: float | None
    method: str
    form: str


class IdentificationKeywords(ModelKeywords, SmoothingKeywords, total=False):
    """Single keywords of `identify`: fields of its options, here those of `CorrectionOptions`."""

    delay: float | None
    zero: Mapping[str, float] | None
    without_torque: Iterable[str]


def merge_options(
    keywords: dict[str, Any], parts: tuple[ModelOptions, SmoothingOptions, CorrectionOptions]
) -> tuple[ModelOptions, SmoothingOptions, CorrectionOptions]:
    """Options with the values that keywords give to their fields."""
    merged = merge_keywords("identify", IdentificationKeywords, keywords, parts)
    require_word("form", merged[1].form, FORMS if merged[0].terms == "full" else FORMS[:1])
    return merged


def require_word(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Reject a word that is not allowed."""
    if value not in allowed:
        raise ArmdynError(where="identify", expected=f"{name} one of {', '.join(allowed)}", got=f"{value!r}")

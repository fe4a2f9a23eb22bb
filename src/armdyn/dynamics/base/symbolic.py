"""Base parameters as text: with numbers, or with the arm's lengths as letters.

The directions that move no torque (`base_rules`) are polynomials in the vectors between joints, as
carrying a mass over a length gives first moments in the length and moments of inertia in its square.
Eliminating with polynomials instead of numbers gives the groupings as people write them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.rules import link_rules
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE, SOLUTION_ERROR
from armdyn.spatial import inertia as inertial


class Polynomial:
    """A polynomial in named lengths: coefficients by monomial, a sorted tuple of names."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[tuple[str, ...], float]) -> None:
        self.terms = {k: c for k, c in terms.items() if abs(c) > SOLUTION_ERROR}

    def __add__(self, other: Polynomial | float) -> Polynomial:
        total = Counter(self.terms)
        total.update(polynomial(other).terms)
        return Polynomial(total)

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        product: Counter[tuple[str, ...]] = Counter()
        for a, x in self.terms.items():
            for b, y in polynomial(other).terms.items():
                product[tuple(sorted(a + b))] += x * y  # type: ignore[assignment]
        return Polynomial(product)

    def __neg__(self) -> Polynomial:
        return self * -1.0

    def __sub__(self, other: Polynomial | float) -> Polynomial:
        return self + polynomial(other) * -1.0

    __radd__ = __add__
    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def constant(self) -> float | None:
        """Its value if it is a number, else None."""
        return self.terms.get((), 0.0) if not any(self.terms) else None

    def value(self, lengths: Mapping[str, float]) -> float:
        """Its value for given lengths."""
        return sum(c * float(np.prod([lengths[name] for name in k])) for k, c in self.terms.items())

    def __str__(self) -> str:
        return "".join(_signed_term(c, _power(k), not i) for i, (k, c) in enumerate(sorted(self.terms.items())))


def polynomial(value: Polynomial | float) -> Polynomial:
    """A number as a polynomial."""
    return value if isinstance(value, Polynomial) else Polynomial({(): float(value)})


def combination(coefficients: NDArray, names: Sequence[str], lead: int) -> str:
    """A linear combination as text, the leading term first: `Ixx2 - Iyy2 - 0.186 (m3 + m4)`."""
    order = [lead, *(int(k) for k in np.flatnonzero(coefficients) if k != lead)]
    return _sum([(polynomial(coefficients[k]), names[k]) for k in order])


def length_values(arm: Arm) -> dict[str, float]:
    """The lengths of an arm by name, those that are not zero; see `BaseParameters.lengths`."""
    values: dict[str, float] = {}
    for i, segment in enumerate(arm.segments, start=1):
        # A joint's place in the base is never carried anywhere.
        for prefix, p in (("", segment.p_before if arm.parents[i - 1] >= 0 else np.zeros(3)), ("a", segment.p_after)):
            values |= {f"{prefix}{axis}{i}": float(x) for axis, x in zip("xyz", p, strict=True) if x}
    return values


def formulas(arm: Arm, P: NDArray, columns: Sequence[int], names: Sequence[str], terms: str) -> tuple[str, ...]:
    """Rows of P as text with polynomials for numbers; a number stands where no polynomial was found."""
    lengths = length_values(arm)
    rotors = next((k for k, name in enumerate(names) if name == "Ia1"), None)
    dropped = [k for k in range(len(names)) if k not in columns]
    absorbed = _absorb(_null_rows(arm, terms, rotors), dropped, inertial.SIZE * arm.n_joints)
    texts = []
    for row, lead in zip(P, columns, strict=True):
        parts = [(polynomial(1.0), names[lead])]
        for k in map(int, np.flatnonzero(row)):
            if k != lead:
                p = absorbed.get((k, lead), polynomial(0.0))
                right = abs(p.value(lengths) - row[k]) < NEGLIGIBLE * max(1.0, abs(row[k]))
                parts.append((p if right else polynomial(row[k]), names[k]))
        texts.append(_sum(parts))
    return tuple(texts)


Row = dict[int, Polynomial]


def _absorb(rows: list[Row], dropped: list[int], links: int) -> dict[tuple[int, int], Polynomial]:
    """Coefficient of each dropped parameter in each kept one, where elimination finds a polynomial."""
    pivots: list[tuple[int, Row]] = []
    # Mass before first moments before tensor: the pivots are then numbers.
    for k in sorted(dropped, key=lambda k: (_degree(k) if k < links else 2, -k)):
        at = next((i for i, row in enumerate(rows) if row.get(k) and row[k].constant), None)
        if at is None:
            continue
        pivot = rows.pop(at)
        pivot = _scale(pivot, 1.0 / pivot[k].constant)  # type: ignore[operator]
        rows = [_minus(row, row[k], pivot) if row.get(k) else row for row in rows]
        pivots = [(j, _minus(row, row[k], pivot) if row.get(k) else row) for j, row in pivots]
        pivots.append((k, pivot))
    return {(k, j): -p for k, row in pivots for j, p in row.items() if j != k}


def _degree(k: int) -> int:
    entry = k % inertial.SIZE
    return 0 if entry == inertial.MASS else 1 if entry < inertial.FIRST.stop else 2


def _scale(row: Row, factor: float) -> Row:
    return {k: p * factor for k, p in row.items()}


def _minus(row: Row, factor: Polynomial, other: Row) -> Row:
    """row - factor * other, entries that vanish left out."""
    result = dict(row)
    for k, p in other.items():
        result[k] = result.get(k, polynomial(0.0)) - factor * p
    return {k: p for k, p in result.items() if p}


def _null_rows(arm: Arm, terms: str, rotors: int | None) -> list[Row]:
    """The directions of `null_directions` with lengths as letters."""
    lengths = length_values(arm)
    rows = []
    for i, (segment, rule) in enumerate(zip(arm.segments, link_rules(arm, terms, rotors is not None), strict=True)):
        before, after = (_letters(prefix, i + 1, lengths) for prefix in ("", "a"))
        for change in rule.carried.T:
            body = [polynomial(x) for x in change[: inertial.SIZE]]
            entries = _move(body, segment.R_after.T, -(segment.R_after.T @ after))
            row = {inertial.SIZE * i + k: p for k, p in enumerate(entries)}
            if arm.parents[i] >= 0:
                carried = _move(body, segment.R_before, before)
                row |= {inertial.SIZE * arm.parents[i] + k: -p for k, p in enumerate(carried)}
            if rotors is not None:
                row[rotors + i] = polynomial(change[inertial.SIZE])
            rows.append({k: p for k, p in row.items() if p})
    return rows


def _letters(prefix: str, i: int, lengths: Mapping[str, float]) -> NDArray:
    """The vector of a joint with its lengths as letters, zeros left zero."""
    names = [f"{prefix}{axis}{i}" for axis in "xyz"]
    return np.array([Polynomial({(name,): 1.0} if name in lengths else {}) for name in names], dtype=object)


def _move(body: list[Polynomial], R: NDArray, p: NDArray) -> list[Polynomial]:
    """`Inertia.moved` with polynomials: the parameters in a frame where the old one has axes R and origin p."""
    m = body[inertial.MASS]
    h = R @ np.array(body[inertial.FIRST], dtype=object)
    old = np.array([[body[k] for k in row] for row in inertial.TENSOR], dtype=object)
    # Steiner with first moments, as in `Inertia.moved`.
    spread = (h @ p) * 2.0 + (p @ p) * m
    tensor = R @ old @ R.T - np.outer(h, p) - np.outer(p, h) - np.outer(p, p) * m
    entries: list[Polynomial] = [m, *(h + p * m)] + [polynomial(0.0)] * 6
    for i in range(3):
        for k in range(3):
            entries[int(inertial.TENSOR[i, k])] = tensor[i, k] + (spread if i == k else 0.0)
    return entries


def _signed_term(c: float, factor: str, first: bool) -> str:
    """`- 2 x` as a further term, `-2 x` as the first, the number left out where it is one."""
    sign = ("-" if c < 0 else "") if first else (" - " if c < 0 else " + ")
    number = "" if factor and abs(abs(c) - 1) < SOLUTION_ERROR else f"{abs(c):.6g}"
    return f"{sign}{number}{' ' if number and factor else ''}{factor}"


def _power(monomial: tuple[str, ...]) -> str:
    """`x3^2` for two of a name."""
    return " ".join(name if n == 1 else f"{name}^{n}" for name, n in Counter(monomial).items())


def _sum(parts: list[tuple[Polynomial, str]]) -> str:
    """Polynomials times names as text; names that share a factor other than one stand in brackets, zeros nowhere."""
    parts = [(p, name) for p, name in parts if p]
    shared: dict[str, list[str]] = {}
    for p, name in parts:
        alone = p.constant is not None and abs(abs(p.constant) - 1) < SOLUTION_ERROR
        shared.setdefault(f"{p} of {name}" if alone else str(p), []).append(name)
    text = ""
    for p, name in parts:
        names = shared.pop(f"{p} of {name}", None) or shared.pop(str(p), None)
        if names:
            text += _times(p, names[0] if len(names) == 1 else f"({' + '.join(names)})", not text)
    return text


def _times(p: Polynomial, name: str, first: bool) -> str:
    """A term of a sum: a polynomial times a name."""
    if len(p.terms) > 1:
        return f"{'' if first else ' + '}({p}) {name}"
    ((monomial, c),) = p.terms.items()
    return _signed_term(c, f"{_power(monomial)} {name}".strip(), first)

"""The angle of a point in the plane over vectors: atan2 within 3 ulp, several times faster than lane by lane."""

from __future__ import annotations

import math

from armdyn.trace.llvm.emit import Emitter

# (atan(u)/u - 1) / u² in powers of u², interpolated at Chebyshev's nodes on |u| <= tan(pi/8): 7e-18 relative.
TAIL = (
    -0.3333333333333333,
    0.19999999999995513,
    -0.1428571428466482,
    0.11111111015117626,
    -0.09090904572487347,
    0.07692183059894114,
    -0.06664509603255386,
    0.05858132894427922,
    -0.05085365922344248,
    0.03922923713835943,
    -0.01917392228554793,
)
# pi/2 in three whole doubles.
HALF_PI_FMA = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
HUGE, SHRINK = 1e300, 2.0**-100


def atan2(e: Emitter, y: str, x: str) -> str:
    """The angle of (x, y) in [-pi, pi], with the C library's treatment of signed zeros, infinities and NaN."""
    big, small = _sorted_sizes(e, y, x)
    # Above pi/8 the quotient (small - big) / (small + big) is the tangent of the angle less pi/4.
    past = e.compare("ogt", small, e.mul(big, e.constant(math.tan(math.pi / 8))))
    top = e.select(past, e.sub(small, big), small)
    bottom = e.select(past, e.add(small, big), big)
    bottom = e.select(e.compare("oeq", big, e.constant(0.0)), e.constant(1.0), bottom)
    u = e.div(top, bottom)
    z = e.mul(u, u)
    angle = e.fma(e.mul(u, z), e.polynomial(z, TAIL), u)
    # The angle is quarters * pi/4 + sign * angle; mirrored at 45 degrees, then at 90.
    quarters, sign = e.truth(past), e.constant(1.0)
    steep = e.compare("ogt", e.intrinsic("fabs", y), e.intrinsic("fabs", x))
    behind = e.compare("olt", e.intrinsic("copysign", e.constant(1.0), x), e.constant(0.0))
    for mirrored, sum_of_both in ((steep, 2.0), (behind, 4.0)):
        quarters = e.select(mirrored, e.sub(e.constant(sum_of_both), quarters), quarters)
        sign = e.select(mirrored, e.neg(sign), sign)
    whole, rest = (e.constant(part / 2) for part in HALF_PI_FMA[:2])
    rest = e.fma(quarters, rest, e.mul(sign, angle))
    value = e.intrinsic("copysign", e.fma(quarters, whole, rest), y)
    return e.select(e.compare("uno", x, y), e.constant(math.nan), value)


def _sorted_sizes(e: Emitter, y: str, x: str) -> tuple[str, str]:
    """The larger and the smaller of |x| and |y|, shrunk where their sum would overflow; 1 and 0 or 1 for infinity."""
    a, b = e.intrinsic("fabs", x), e.intrinsic("fabs", y)
    big, small = e.intrinsic("maxnum", a, b), e.intrinsic("minnum", a, b)
    infinite = e.compare("oeq", big, e.constant(math.inf))
    factor = e.select(e.compare("ogt", big, e.constant(HUGE)), e.constant(SHRINK), e.constant(1.0))
    big = e.select(infinite, e.constant(1.0), e.mul(big, factor))
    both = e.truth(e.compare("oeq", small, e.constant(math.inf)))
    return big, e.select(infinite, both, e.mul(small, factor))

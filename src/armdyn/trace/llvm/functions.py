"""Elementary functions over vectors: errors in units in the last place (ulp) measured in the tests.

sin, cos: 2 ulp up to 1e5 rad, the C library beyond; exp: 2 ulp; atan2, tanh: 3 ulp; log, powers and the
others call the C library lane by lane (1 ulp in glibc).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from armdyn.trace.llvm.arctangent import HALF_PI_FMA, atan2
from armdyn.trace.llvm.emit import Emitter

# fdlibm's minimax polynomials on [-pi/4, pi/4], in powers of r².
SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
# pi/2 in three parts of 33 bits (exact products with integers below 2^20), where multiply-add does not round once.
HALF_PI_SPLIT = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
# Adding and subtracting 1.5 * 2^52 rounds to an integer, which then stands in the low bits.
ROUNDER = 6755399441055744.0
(ROUNDER_BITS,) = struct.unpack("<q", struct.pack("<d", ROUNDER))
# Beyond this the three-part reduction loses accuracy: the C library's exact reduction takes over.
LARGE_ANGLE = 1e5

LN2_HI, LN2_LO = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Taylor coefficients of (e^r - 1 - r) / r² from 1/2!: on |r| <= ln(2)/2 the 12 terms reach 1e-17.
EXP_TAIL = tuple(1.0 / f for f in (2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600, 6227020800))


def is_large_angle(e: Emitter, x: str) -> str:
    """Return the mask of angles that the fast sine and cosine do not reach (infinities included)."""
    return e.compare("ogt", e.intrinsic("fabs", x), e.constant(LARGE_ANGLE))


def sine_cosine(e: Emitter, x: str) -> tuple[str, str]:
    """sin x and cos x for |x| <= LARGE_ANGLE, branch-free; NaN gives NaN, sin(-0) = -0."""
    shifted = e.fma(x, e.constant(2 / math.pi), e.constant(ROUNDER))
    quadrant = e.bits(shifted)
    k = e.neg(e.sub(shifted, e.constant(ROUNDER)))
    r = x
    for part in HALF_PI_FMA if e.host.fma else HALF_PI_SPLIT:
        r = e.fma(k, e.constant(part), r)
    z = e.mul(r, r)
    # sin r = r + r z S(z)
    sine = e.fma(e.mul(r, z), e.polynomial(z, SIN), r)
    # The sum of zeros of both signs is +0: keep the sign of x.
    sine = e.select(e.compare("oeq", x, e.constant(0.0)), x, sine)
    # cos r = 1 - z/2 + z² C(z)
    main = e.fma(e.constant(-0.5), z, e.constant(1.0))
    cosine = e.fma(e.mul(z, z), e.polynomial(z, COS), main)
    # The last bits of the quadrant as signs: odd ones swap sine and cosine, the second bit turns their signs.
    odd, second = (e.int_op("shl", quadrant, e.integer(bits)) for bits in (63, 62))
    swap = e.let(f"icmp slt {e.vector('i64')} {odd}, {e.integer(0)}")
    s, c = e.select(swap, cosine, sine), e.select(swap, sine, cosine)
    return _turn(e, s, second), _turn(e, c, e.int_op("xor", second, odd))


def _turn(e: Emitter, value: str, bits: str) -> str:
    """Change the sign where the first of the bits is set."""
    sign = e.int_op("and", bits, e.integer(-(2**63)))
    return e.doubles(e.int_op("xor", e.bits(value), sign))


def _exp_parts(e: Emitter, x: str) -> tuple[str, str]:
    """k (a rounded integer as its shifted double) and e^r - 1 with x = k ln 2 + r."""
    shifted = e.fma(x, e.constant(1 / math.log(2)), e.constant(ROUNDER))
    k = e.neg(e.sub(shifted, e.constant(ROUNDER)))
    r = e.fma(k, e.constant(LN2_LO), e.fma(k, e.constant(LN2_HI), x))
    return shifted, e.fma(e.mul(r, r), e.polynomial(r, EXP_TAIL), r)


def _power_of_two(e: Emitter, integer: str) -> str:
    """2^k for integers with -1022 <= k <= 1023."""
    return e.doubles(e.int_op("shl", e.int_op("add", integer, e.integer(1023)), e.integer(52)))


def exp(e: Emitter, x: str) -> str:
    """e^x; 0 and infinity where it leaves the range of doubles."""
    # Clamped so that k stays in range; the ends still round to 0 and infinity. minnum drops NaN: restored below.
    bounded = e.intrinsic("maxnum", e.intrinsic("minnum", x, e.constant(710.0)), e.constant(-746.0))
    shifted, tail = _exp_parts(e, bounded)
    k = e.int_op("sub", e.bits(shifted), e.integer(ROUNDER_BITS))
    # 2^k in two factors, so that results near the ends of the range stay right.
    half = e.int_op("ashr", k, e.integer(1))
    rest = e.int_op("sub", k, half)
    value = e.mul(e.mul(e.add(e.constant(1.0), tail), _power_of_two(e, half)), _power_of_two(e, rest))
    return e.select(e.compare("uno", x, x), x, value)


def tanh(e: Emitter, x: str) -> str:
    """tanh x = t / (t + 2) with t = e^2|x| - 1, and the sign of x."""
    size = e.intrinsic("minnum", e.intrinsic("fabs", x), e.constant(22.0))  # tanh 22 rounds to 1
    shifted, tail = _exp_parts(e, e.add(size, size))
    power = _power_of_two(e, e.int_op("sub", e.bits(shifted), e.integer(ROUNDER_BITS)))
    t = e.fma(power, tail, e.sub(power, e.constant(1.0)))
    value = e.intrinsic("copysign", e.div(t, e.add(t, e.constant(2.0))), x)
    return e.select(e.compare("uno", x, x), x, value)


def sign(e: Emitter, x: str) -> str:
    """-1, +1, or x itself where it is zero or NaN."""
    positive = e.select(e.compare("ogt", x, e.constant(0.0)), e.constant(1.0), x)
    return e.select(e.compare("olt", x, e.constant(0.0)), e.constant(-1.0), positive)


_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_INTRINSIC = {
    "sqrt": "sqrt", "fabs": "fabs", "floor": "floor", "ceil": "ceil", "copysign": "copysign",
    "fmin": "minnum", "fmax": "maxnum",
}  # fmt: skip
_EMITTERS: dict[str, Callable[..., str]] = {"atan2": atan2, "exp": exp, "tanh": tanh, "sign": sign}
LIBRARY = (
    "log", "log1p", "expm1", "pow", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
    "atanh", "erf", "fmod", "hypot", "remainder",
)  # fmt: skip


def operation(e: Emitter, op: str, args: list[str]) -> str:
    """The value of one graph operation other than sin and cos, which come in pairs."""
    if op in _BINARY:
        return e.binary(_BINARY[op], args[0], args[1])
    if op == "neg":
        return e.neg(args[0])
    if op in _INTRINSIC:
        return e.intrinsic(_INTRINSIC[op], *args)
    if op in _EMITTERS:
        return _EMITTERS[op](e, *args)
    if op in LIBRARY:
        return e.per_lane(op, *args)
    if op in _COMPARE:
        return e.truth(e.compare(_COMPARE[op], *args))
    return _logical(e, op, args)


def _logical(e: Emitter, op: str, args: list[str]) -> str:
    """Operations on truth values held as numbers."""
    true = [e.is_true(args[0]), *(e.is_true(a) for a in args[1:] if op != "if_else_zero")]
    if op == "not":
        return e.select(true[0], e.constant(0.0), e.constant(1.0))
    if op in ("and", "or"):
        return e.truth(e.let(f"{op} {e.vector('i1')} {true[0]}, {true[1]}"))
    if op == "if_else_zero":
        return e.select(true[0], args[1], e.constant(0.0))
    raise ValueError(f"operation '{op}' has no native form")

"""References and arms that the tests of control laws share."""

import ctypes
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import armdyn


class Swing:
    """Joints that swing smoothly from rest: q = a (1 - cos w t) + start, one frequency per joint."""

    def __init__(self, amplitude: Any, frequency: Any, duration: float, start: Any = 0.0) -> None:
        self.amplitude, self.duration = np.atleast_1d(np.asarray(amplitude, float)), duration
        self.n = len(self.amplitude)
        self.w, self.start = 2 * np.pi * np.asarray(frequency, float), start

    def __call__(self, t: Any) -> Any:
        t = np.asarray(t, float)[..., None]
        a, w = self.amplitude, self.w
        return (
            self.start + a * (1 - np.cos(w * t)),
            a * w * np.sin(w * t),
            a * w**2 * np.cos(w * t),
        )


@pytest.fixture(scope="session")
def swing() -> type[Swing]:
    return Swing


@pytest.fixture(scope="session")
def planar() -> armdyn.Arm:
    return armdyn.arms.planar2()


class Controller:
    """The C code of a law as a function for `simulate`; channels by sample, or those of the reference."""

    def __init__(self, library: Any, prefix: str, law: Any, channels: Any) -> None:
        self.step = getattr(library, f"{prefix}_step")
        self.state = ctypes.create_string_buffer(8 * max(sum(x.size for x in law.init().values()), 1))
        getattr(library, f"{prefix}_init")(self.state)
        self.channels, self.k, self.n = channels, 0, law.arm.n

    def __call__(self, t: Any, q: Any, qd: Any, ref: Any) -> Any:
        tau = np.empty(self.n)
        channels = ref.channels if self.channels is None else {key: x[self.k] for key, x in self.channels.items()}
        rows = [*(q, qd, ref.q, ref.qd, ref.qdd), *channels.values(), tau]
        rows = [np.ascontiguousarray(x) if x is not tau else x for x in rows]
        self.step(self.state, *(ctypes.c_void_p(x.ctypes.data) for x in rows))
        self.k += 1
        return tau


@pytest.fixture(scope="session")
def in_c() -> Any:
    """A law as compiled C: `in_c(law, rate, folder, channels)`."""

    def build(law: Any, rate: float, folder: Any, channels: Any = None, **options: Any) -> Controller:
        options = {"prefix": "law", **options}
        code = armdyn.law_code(law, folder, rate, **options)
        library = folder / f"{options['prefix']}.so"
        command = [shutil.which("cc"), "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
        command += ["-ffp-contract=off", "-fPIC", "-shared"]
        subprocess.run([*command, *map(str, code.sources), "-lm", "-o", str(library)], check=True)
        return Controller(ctypes.CDLL(str(library)), options["prefix"], law, channels)

    return build

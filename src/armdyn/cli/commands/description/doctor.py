"""`armdyn doctor`: what this machine has of what armdyn can use, and what is missing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from armdyn.cli.show import print_json
from armdyn.errors import install_command

EXTRAS = tomllib.loads(Path(__file__).with_name("extras.toml").read_text(encoding="utf-8"))


def doctor(json: bool = False) -> None:
    """Show the environment: versions, native kernels, cache, compiler, threads, and which extras are installed."""
    facts, missing = machine(), missing_modules()
    if json:
        print_json({**facts, "extras": {name: not lacks for name, lacks in missing.items()}})
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name.replace('_', ' '):<{width}}  {value}")
    print()
    for name, lacks in missing.items():
        state = f"missing {', '.join(lacks)}: {install_command(name)}" if lacks else "installed"
        print(f"extra {name:<10} {state} ({EXTRAS[name]['purpose']})")


def machine() -> dict[str, Any]:
    """Describe the machine that armdyn runs on."""
    import os
    import platform
    import sys
    from importlib.metadata import version

    import armdyn
    from armdyn.control.compiled import compiler
    from armdyn.trace import cache

    entries, size = cache.size()
    return {
        "armdyn": armdyn.__version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in ("numpy", "scipy", "casadi", "llvmlite")},
        "kernels": _kernels(),
        "cache": f"{cache.folder()}: {entries} kernels, {size / 2**20:.1f} MB",
        "compiler": compiler() or "none (needed only for tests of C)",
        "cores": os.cpu_count(),
    }


def _kernels() -> str:
    """Whether native kernels work, tried on a small arm."""
    import numpy as np

    from armdyn.dynamics.newton_euler import inverse_dynamics
    from armdyn.model.library.textbook import planar2
    from armdyn.trace import backend

    torque = inverse_dynamics(planar2(), np.zeros(2), np.zeros(2), np.zeros(2))
    name = "native" if backend.current() == "native" else "none: CasADi's virtual machine serves, 100 times slower"
    return f"{name}, tested" if np.isfinite(torque).all() else f"{name}, but a torque came out as {torque}"


def missing_modules() -> dict[str, list[str]]:
    """Return the modules that each extra lacks here."""
    from importlib.util import find_spec

    return {name: [m for m in extra["modules"] if find_spec(m) is None] for name, extra in EXTRAS.items()}

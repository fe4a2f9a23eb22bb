"""How long the export of every law as C takes: with an empty cache, and again.

    python benchmarks/control_exports.py [--arm puma560] [law ...]

Each law is exported in two processes of its own that share a fresh cache: the first finds nothing, the second all that
the first has left. On a busy machine the processor's time tells more than the clock's. `ARMDYN_BENCHMARK=small` takes
two laws.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
RATE = 1000.0


def laws(name: str):
    """One law of every kind, those that feel, watch and estimate included."""
    import armdyn
    from armdyn import control
    from armdyn.simulation import Sway

    arm = getattr(armdyn.arms, name)()
    found = armdyn.designs(arm, Sway.within(arm, 4.0), 3.0, RATE)
    computed, push = found["computed torque"], [10.0, 0, 0, 0, 0, 0]
    return found | {
        "hybrid force": control.HybridForce(arm, 400.0, 40.0, [1.0, 0, 0], push),
        "parallel force": control.ParallelForce(arm, 400.0, 40.0, push),
        "shaped impedance": control.ShapedImpedance(arm, 2e3, 250.0, 4.0, push),
        "admittance": control.Admittance(arm, 4900.0, 210.0, 5.0, 300.0, push=push),
        "momentum observer": control.MomentumObserver(computed, 5.0),
        "filtered derivative": control.FilteredDerivative(computed),
        "Kalman": control.KalmanVelocity(computed, RATE),
        "observed velocity": control.ObservedVelocity(computed),
        "guarded": armdyn.Guarded(computed),
        "path scaling": control.PathScaling.from_bandwidth(arm, Sway.within(arm, 4.0), 3.0, limit=1e3),
        "elastic PD": control.ElasticPD(arm, 1e4, 500.0, 50.0),
        "elastic damping": control.ElasticDamping(computed, 10.0),
        "elastic linearisation": control.ElasticLinearisation.from_bandwidth(arm, 1e4, 2.0),
    }


def export(arm: str, name: str) -> None:
    """Export one law and print the seconds that passed, and those of the processor."""
    import armdyn

    law = laws(arm)[name]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter(), time.process_time()
        armdyn.law_code(law, folder, RATE, prefix="law")
        print(time.perf_counter() - begin[0], time.process_time() - begin[1])


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--arm", default="puma560")
    options.add_argument("--one", action="store_true", help="export one law in this process")
    options.add_argument("laws", nargs="*")
    given = options.parse_args()
    if given.one:
        export(given.arm, given.laws[0])
        return
    names = given.laws or (["computed torque", "momentum observer"] if SMALL else list(laws(given.arm)))
    print("| law | empty cache [s] | processor | again [s] | processor |\n|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            call = [sys.executable, __file__, "--one", "--arm", given.arm, name]
            how = {**os.environ, "ARMDYN_CACHE_DIR": cache}
            found = [subprocess.run(call, env=how, capture_output=True, text=True, check=True).stdout for _ in range(2)]
        cells = [f"{float(x):.1f}" for text in found for x in text.split()]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""Does a controller work for every load and friction in the data sheet? 512 runs, what matters, and the worst one."""

import tempfile
from pathlib import Path

import numpy as np

import armdyn


def main() -> None:
    study = armdyn.read_study(Path(__file__).with_suffix(".toml"))
    folder = Path(tempfile.mkdtemp()) / "results"
    columns = armdyn.run_study(study, folder)  # workers=2 for two processes; resume=True after an interruption

    summary = study.summary(columns)
    for controller, part in summary.data["success"].items():
        print(f"{controller}: {part:.0%} of the runs keep the tip within 15 mm")
    first = summary.data["influence"]["max_tip_error"][0]
    print(f"what matters most for the tip: {first['factor']} ({first['share']:.0%} of the variance of ranks)")

    worst = int(np.argmax(columns["max_tip_error"]))
    run = study.case(worst)  # the same run in full, to the last bit
    print(f"the worst run is case {worst}: {1e3 * run.metrics.max_tip_error:.1f} mm with", end=" ")
    print(", ".join(f"{name} {columns[name][worst]:.2f}" for name in study.parameters))
    armdyn.report(summary, folder / "report.html")


if __name__ == "__main__":  # worker processes import this file
    main()

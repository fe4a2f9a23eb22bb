"""`armdyn calibrate ARM POSES`: frames, zeros, tool and sag of an arm from measured poses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.cli.long_work import progress_bar, require_folders
from armdyn.cli.resolve import resolve
from armdyn.cli.show import print_json, print_line, print_list, print_table

if TYPE_CHECKING:
    from armdyn.calibration.result import Calibration
    from armdyn.model.arm import Arm

FITTING, JUDGING = 0.1, 0.2  # shares of the work at which these begin
GEOMETRY: dict[str, Any] = {"all": True, "offsets": "offsets", "base": False}


@dataclass(frozen=True)
class ErrorOptions:
    """Errors of the arm that are fitted."""

    fit: str = "all"
    no_gravity: bool = False
    masses: bool = False
    encoder_harmonics: bool = False
    approach: bool = False

    def keywords(self) -> dict[str, Any]:
        """The same for `armdyn.calibrate`."""
        from armdyn.errors import check_choice

        check_choice("--fit", "model", self.fit, GEOMETRY)
        gravity: Any = False if self.no_gravity else "masses" if self.masses else True
        geometry = GEOMETRY[self.fit]
        return {
            "geometry": geometry, "gravity": gravity, "harmonics": self.encoder_harmonics, "approach": self.approach
        }  # fmt: skip


@dataclass(frozen=True)
class CalibrationOutputOptions:
    """Files of the result."""

    out: Path | None = None
    onto: Path | None = None
    offsets: Path | None = None
    placed: bool = False
    code: Path | None = None
    report: Path | None = None

    def write(self, calibration: Calibration) -> list[Path]:
        """Write the files; their paths."""
        code: tuple[Path, ...] = ()
        if self.out is not None:
            calibration.save(self.out, onto=self.onto, offsets=self.offsets, placed=self.placed)
        elif self.offsets is not None:
            calibration.save_offsets(self.offsets)
        if self.code is not None:
            printed = calibration.c_code(self.code)
            code = (printed.source, printed.header, printed.selftest)
        if self.report is not None:
            calibration.report(self.report)
        return [path for path in (self.out, self.offsets, *code, self.report) if path is not None]


def calibrate(
    arm: str,
    poses: Path,
    *,
    results: CalibrationOutputOptions,
    errors: ErrorOptions,
    degrees: bool = False,
    unit: str = "m",
    camera: str = "fixed",
    design: int | None = None,
    base: str | None = None,
    tip: str | None = None,
    json: bool = False,
) -> None:
    """Find base, tool, joint frames, zeros and the deflection under gravity from measured poses."""
    from armdyn.calibration.calibrate import calibrate as fit_poses
    from armdyn.calibration.check import check_poses, mistakes_error
    from armdyn.calibration.read_poses import read_poses

    keywords = errors.keywords()
    require_folders(results.offsets, report=results.report, model=results.out)
    described = resolve(arm, base, tip)
    if design is not None:
        _write_design(described, design, poses, degrees)
        return
    with progress_bar() as tell:
        tell(0.0, 1.0, "reading and checking poses")
        measured = read_poses(poses, described, angle="deg" if degrees else "rad", length=unit, camera=camera)
        if mistakes := check_poses(described, measured).mistakes:
            raise mistakes_error(measured, mistakes)
        tell(FITTING, 1.0, "fitting")
        calibration = fit_poses(described, measured, **keywords)
        calibration.judge(lambda done, total, text: tell(JUDGING + (1 - JUDGING) * done / total, 1.0, text))
    written = results.write(calibration)
    if json:
        print_json(_numbers(calibration))
    else:
        _print(calibration, written)


def _write_design(arm: Arm, count: int, path: Path, degrees: bool) -> None:
    """Write a table of joint positions, with columns for what will be measured there."""
    import numpy as np

    from armdyn.calibration.design import calibration_poses
    from armdyn.errors import ArmdynError
    from armdyn.files import write_whole

    if path.suffix.lower() != ".csv" or path.exists():
        raise ArmdynError(where="--design", expected="POSES as a new file that ends in .csv", got=f"'{path}'")
    slides = np.array([joint.kind == "prismatic" for joint in arm.joints])
    try:
        q = calibration_poses(arm, count)
    except ArmdynError as error:
        error.where = ""
        raise error.at("--design") from None
    q = np.where(slides, q, np.degrees(q)) if degrees else q
    names = [
        f"{name}_deg" if degrees and not slide else name for name, slide in zip(arm.joint_names, slides, strict=True)
    ]
    lines = [",".join([*names, "x", "y", "z"]), *(",".join([*(f"{x:.6f}" for x in row), "", "", ""]) for row in q)]
    write_whole(path, "\n".join(lines) + "\n")
    print_line(f"written: {path}", whole=True)
    print_line("Fill in x, y, z as measured. Motions from one pose to the next were not checked for collisions.")


def _numbers(calibration: Calibration) -> dict[str, Any]:
    errors = {
        name: value._asdict() for name, value in calibration.held_out._asdict().items() if hasattr(value, "_asdict")
    }
    names = "base_pose tool_pose markers geometry offsets determined deviations doubtful undetermined notes converged"
    values = {name: getattr(calibration, name) for name in names.split()}
    return {"verdict": str(calibration.verdict), "held_out": errors, "noise": calibration.noise} | values


def _print(calibration: Calibration, written: list[Path]) -> None:
    from armdyn.report.calibration import doubtful_text, error_rows, gain_text, headings, offset_rows, verdict_text

    print_table(
        "Held-out errors",
        [f"{name} " if k else name for k, name in enumerate(headings(calibration))],
        error_rows(calibration),
    )
    if calibration.fit.unknowns.free.any():
        print_table("Zeros", ("joint", "error ", "95 % ", "determined "), offset_rows(calibration))
    print_list("Notes", [*calibration.notes, *doubtful_text(calibration)])
    print_line(f"{verdict_text(calibration)} {gain_text(calibration)}", "bold")
    if written:
        print_line(f"written: {', '.join(map(str, written))}", whole=True)

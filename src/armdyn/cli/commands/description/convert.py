"""`armdyn convert ARM FILE`: an arm from one format to another, and what the other cannot hold."""

from __future__ import annotations

from pathlib import Path

from armdyn.cli.resolve import resolve
from armdyn.cli.show import print_json


def convert(arm: str, to: Path, base: str | None = None, tip: str | None = None, json: bool = False) -> None:
    """Write an arm in another format; what that format cannot hold is listed."""
    from armdyn.model.convert import not_held

    subject = resolve(arm, base, tip)
    lost = not_held(subject, to.suffix)
    subject.save(to)
    if json:
        print_json({"written": str(to), "not_held": lost})
        return
    print(f"wrote {to}")
    for line in lost:
        print(f"{'no standard element' if to.suffix == '.urdf' else 'no place'} in {to.suffix} for: {line}")

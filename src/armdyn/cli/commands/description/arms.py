"""`armdyn arms`: the library of arms."""

from __future__ import annotations

from armdyn.cli.resolve import library, resolve
from armdyn.cli.show import print_json, print_line, print_table


def arms(json: bool = False) -> None:
    """List the arms that come with armdyn."""
    entries = []
    for name in library():
        arm = resolve(name)
        kinds = "".join("R" if joint.kind == "revolute" else "P" for joint in arm.joints)
        source = arm.notes[0].removeprefix("Source: ").rstrip(".")
        entries.append({"name": name, "n": arm.n, "kinds": kinds, "source": source})
    if json:
        print_json(entries)
        return
    rows = [(str(e["name"]), str(e["n"]), str(e["kinds"]), str(e["source"])) for e in entries]
    print_table("Arms in the library", ("name", "n ", "joints", "source"), rows)
    print_line("R revolute, P prismatic. Use one by its name, e.g. 'armdyn info puma560'.", "dim")

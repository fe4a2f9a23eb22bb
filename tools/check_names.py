"""Check the names and first words of the source: `python tools/check_names.py [FOLDER ...]`.

The rules, of which CONTRIBUTING.md gives the reasons:

* a name is a noun of the field, never a participle or a word that could stand for anything (`EMPTY`);
* a public class name occurs once in the package;
* a docstring begins with a verb (functions) or a noun (classes, properties), never with a relative clause (`CLAUSES`);
* options of the command line are named in `cli/` and `report/` alone.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "armdyn"
EMPTY = {"found", "own", "told", "said", "given", "seen", "felt", "kept", "shown", "made"}
CLAUSES = re.compile(r"(What|How|Of|Where|From|Which|That|By) ")
OPTION = re.compile(r"(^| )--[a-z]{3,}")
WITH_OPTIONS = ("cli", "report", ".")  # folders that write for the command line, and `__main__`


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of every variable, parameter, field, function and class that a tree binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def problems(tree: ast.AST, folder: str) -> Iterator[tuple[str, int, str]]:
    """Yield rule, line and message of everything in a module that breaks a rule."""
    for line, name in bound_names(tree):
        if name.lower().strip("_") in EMPTY:
            yield "name", line, f"'{name}' says nothing; take the noun for the value"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if CLAUSES.match(ast.get_docstring(node) or ""):
                yield "docstring", node.lineno, f"docstring of '{node.name}' begins with a relative clause"
        elif folder not in WITH_OPTIONS and isinstance(node, ast.Constant) and OPTION.search(str(node.value)):
            yield "option", node.lineno, f"names an option of the command line: {str(node.value).strip()[:60]!r}"


def folder_of(path: Path) -> str:
    """Return the folder of the package that a module belongs to, '.' for modules beside the folders."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else "."


def check(folders: list[str]) -> list[str]:
    """Return what breaks a rule in some folders (all, if none is named)."""
    messages, places = [], defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        tree, folder = ast.parse(path.read_text(encoding="utf-8")), folder_of(path)
        place = path.relative_to(SOURCE.parent.parent)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{place}:{node.lineno}")
        if folders and folder not in folders:
            continue
        messages += [f"{place}:{line}: {message}" for _, line, message in problems(tree, folder)]
    for name, lines in sorted(places.items()):
        if len(lines) > 1:
            messages.append(f"{lines[0]}: class '{name}' also stands in {', '.join(lines[1:])}")
    return messages


if __name__ == "__main__":
    broken = check(sys.argv[1:])
    print("\n".join(broken))
    sys.exit(bool(broken))

"""Functions stay short and take few parameters; options of public functions and of commands are not counted."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import armdyn
from armdyn.cli.app import PLACES
from armdyn.exports import public_names

SOURCE = Path(armdyn.__file__).parent
MAX_LINES = 60  # of a function, without its docstring
MAX_PARAMETERS = 12
MAX_FILES = 22  # of a folder
# Lines of code of each folder, without comments and docstrings. Deleting pays for adding: raise a number only in a
# commit that says what the folder can do for it.
BUDGET = {
    ".": 1095, "calibration": 1676, "cli": 3550, "control": 3770, "dynamics": 3893, "identification": 8851,
    "kinematics": 1585, "model": 4827, "report": 1504, "servo": 1306, "shapes": 714, "simulation": 4350,
    "spatial": 305, "studio": 2628, "study": 1826, "trace": 4889, "trajectory": 3701,
}  # fmt: skip
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
COMMANDS = {(place, name.replace("-", "_")) for name, place in PLACES.items()}
PUBLIC = set(public_names(armdyn))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[tuple[str, Function]]:
    module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Function):
            yield module, node


def size(module: str, function: Function) -> tuple[int, int]:
    """Lines and parameters of a function, both without its options where these are its purpose."""
    arguments, body = function.args, function.body
    positional = len(arguments.posonlyargs) + len(arguments.args)
    documented = ast.get_docstring(function, clean=False) is not None
    first = body[1].lineno if documented and len(body) > 1 else body[0].lineno
    lines = (function.end_lineno or 0) - first + 1
    signature = body[0].lineno - function.lineno
    if (module, function.name) in COMMANDS:
        return lines, 0
    if function.name in PUBLIC and arguments.kwonlyargs:
        return lines, positional
    return lines + signature, positional + len(arguments.kwonlyargs)


def test_functions_are_short_and_take_few_parameters() -> None:
    sizes = {
        f"{module}:{function.lineno} {function.name}": size(module, function)
        for path in SOURCE.rglob("*.py")
        for module, function in functions(path)
    }
    assert len(sizes) > 3000
    assert {name: n for name, n in sizes.items() if n[0] > MAX_LINES or n[1] > MAX_PARAMETERS} == {}


def test_long_functions_are_found() -> None:
    text = "def f(a, b, *, c=1):\n    '''Doc.'''\n" + "    a += 1\n" * 70
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert size("armdyn.no_such", function) == (71, 3)


def test_no_folder_lists_too_many_files() -> None:
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    counts = {str(folder.relative_to(SOURCE)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MAX_FILES} == {}


def code_lines(text: str) -> int:
    """Count the lines on which code starts."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            documented |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type not in NO_CODE} - documented)


def test_folders_keep_to_their_budget_of_lines() -> None:
    lines: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).parts
        lines[parts[0] if len(parts) > 1 else "."] += code_lines(path.read_text())
    assert set(lines) == set(BUDGET)
    assert {folder: count for folder, count in lines.items() if count > BUDGET[folder]} == {}


def test_comments_and_docstrings_are_no_code() -> None:
    assert code_lines("'''Doc.'''\n\n# why\ndef f(\n    a,\n):\n    '''Doc.'''\n    return a  # so\n") == 4

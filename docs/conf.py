"""Sphinx: the pages of this folder, an API reference made from the public names, warnings as errors.

python -m sphinx -W --keep-going -b html docs build/html
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from sphinx.util import logging

import armdyn
from armdyn.exports import aliases

project = "armdyn"
author = "The armdyn authors"
copyright = author
version = release = armdyn.__version__

extensions = [
    "myst_nb",  # Markdown pages and the notebook; brings myst_parser
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx-mathjax-offline",  # pages open without a network
    "sphinx_copybutton",
    "sphinx_design",  # cards
]
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # which nobody wants to paste
copybutton_prompt_is_regexp = True
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebook is committed as executed, and its own test runs it
root_doc = "index"
exclude_patterns = ["images/*.py"]
# Pages link files of the project that are not pages: examples, README.
suppress_warnings = ["myst.xref_missing"]
numpydoc_show_class_members = False
default_role = "literal"  # `name` in docstrings is code
smartquotes = False  # `--option` outside of code would become a dash
autodoc_typehints = "none"  # the docstrings give shapes and units, which say more
html_theme = "furo"
html_title = f"armdyn {version}"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["tables.css"]

UNLINKED = (
    "options",
    "command-line",
    "notebook",
    "names",
)  # where words in code are options, commands or other libraries
# The guides of each page of the API reference.
GUIDES = {
    "model": "formats mechanisms conventions",
    "kinematics": "kinematics",
    "dynamics": "dynamics regressors linearization constraints",
    "trajectory": "trajectories",
    "identification": "identify-your-robot identification estimators",
    "calibration": "calibrate-your-robot",
    "servo": "servo-arms",
    "control": "control controller-c real-time",
    "simulation": "simulation control-compared",
    "report": "start",
    "study": "studies",
    "trace": "traced-functions c-code jax",
    "errors": "troubleshooting",
}
MAX_SIGNATURE, SHORT_SIGNATURE_WORDS = 110, 3
FOLDERS = {
    "model": "Arms",
    "arms": "Library of arms",
    "kinematics": "Kinematics",
    "dynamics": "Dynamics, linearisation, regressors",
    "trajectory": "Motions",
    "identification": "Identification",
    "calibration": "Calibration",
    "servo": "Servos",
    "control": "Control",
    "simulation": "Simulation",
    "spatial": "Rotations and inertia",
    "report": "Reports",
    "study": "Studies",
    "trace": "Traced functions and code",
    "errors": "Errors",
}


def write_reference(app: object) -> None:
    """One page per folder with the public names that live there."""
    names: dict[str, list[str]] = defaultdict(list)
    name_to_module = {**aliases(armdyn), **armdyn._name_to_module}
    for name, home in name_to_module.items():
        names[home.split(".")[1]].append(name)
    here = Path(__file__).parent / "api"
    here.mkdir(exist_ok=True)
    for folder, members in names.items():
        title, guides = FOLDERS.get(folder, folder.capitalize()), GUIDES.get(folder, "").split()
        _write(here / f"{folder}.rst", _page(title, sorted(members), guides))
    _write(here / "arms.rst", _page("Library of arms", [f"arms.{name}" for name in armdyn.arms.__all__]))
    names["arms"] = []
    pages = "\n".join(f"   {folder}" for folder in sorted(names, key=[*FOLDERS, *names].index))
    _write(here / "index.rst", f"API reference\n=============\n\n.. toctree::\n   :maxdepth: 2\n\n{pages}\n")


def _page(title: str, members: list[str], guides: Sequence[str] = ()) -> str:
    lines = [title, "=" * len(title), ""]
    lines += [f"Guides: {', '.join(f':doc:`/{guide}`' for guide in guides)}.", ""] if guides else []
    lines += [".. list-table::", "   :widths: 1 3", ""]
    for name in members:
        lines += [f"   * - :py:obj:`{name} <armdyn.{name}>`", f"     - {_summary(attrgetter(name)(armdyn))}"]
    lines += [""]
    for name in members:
        is_class = isinstance(attrgetter(name)(armdyn), type)
        lines += [name, "-" * len(name), "", f".. auto{'class' if is_class else 'function'}:: armdyn.{name}"]
        lines += ["   :members:", ""] if is_class else [""]
    return "\n".join(lines)


def _summary(thing: object) -> str:
    """The first sentence of a documentation; of values that have none, their kind."""
    text = (thing.__doc__ or "") if isinstance(thing, type) or callable(thing) else ""
    return " ".join(text.strip().split("\n\n")[0].split()) or type(thing).__name__


def shorten_signature(
    app: object, what: str, name: str, thing: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Arguments beyond a line are left to the documentation below."""
    if signature is None or len(signature) <= MAX_SIGNATURE:
        return signature, returns
    words = re.sub(r"=[^,)]*", "", signature.strip("()")).split(", ")
    return f"({', '.join(words[:SHORT_SIGNATURE_WORDS])}, ...)", returns


def write_llms_txt(app: object, error: Exception | None) -> None:
    """An index of the pages for programs that read: title, address, first sentence."""
    if error is not None or app.builder.format != "html":  # type: ignore[attr-defined]
        return
    lines = [
        "# armdyn",
        "",
        "> Robot arms: from description and logged motion to dynamic model, controller and C code.",
        "",
    ]
    for page in sorted(Path(__file__).parent.glob("*.md")):
        title, _, rest = page.read_text("utf-8").partition("\n")
        first = next((x for x in rest.split("\n\n") if x.strip() and x.strip()[0].isalpha()), "")
        lines.append(f"- [{title.lstrip('# ')}]({page.stem}.html): {' '.join(first.split())[:200]}")
    Path(app.outdir, "llms.txt").write_text("\n".join([*lines, ""]), "utf-8")  # type: ignore[attr-defined]


def _write(path: Path, text: str) -> None:
    """Only what changed, so that a second build is quick."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def link_names(app: object, page: str, source: list[str]) -> None:
    """Names lead to the API reference, on guides the first of each; in the repository they stay plain."""
    if page in UNLINKED or page.startswith(("api/", "development/")):
        return
    if page != "index":
        source[0] = _link_first(source[0])
        return
    before, title, table = source[0].partition("## Names to begin with")
    table = table.replace("the API reference", "the [API reference](api/index.rst)", 1)
    table = re.sub(r"^\| `armdyn\.(\w+)` ", r"| [`armdyn.\1`](api/\1.rst) ", table, flags=re.MULTILINE)
    known = {name for name in re.findall(r"`(\w+)`", table) if name in armdyn.__all__}
    source[0] = before + title + re.sub(r"`(\w+)`", lambda m: _linked(m[1]) if m[1] in known else m[0], table)


def _link_first(text: str) -> str:
    """A page whose public names in inline code are links where they first stand, outside of code and other links."""
    known = set(armdyn.__all__) | set(aliases(armdyn))
    blocks = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)

    def link(match: re.Match[str]) -> str:
        if match[1] not in known:
            return match[0]
        known.discard(match[1])
        return _linked(match[1])

    prose = re.compile(r"(?<![`\[\w}])`(\w+)`(?![`\w])(?!\]\()")
    return "".join(
        block
        if block.startswith("```")
        else "\n".join(line if line.startswith(("#", "    ")) else prose.sub(link, line) for line in block.split("\n"))
        for block in blocks
    )


def _linked(name: str) -> str:
    return f"{{py:obj}}`{name} <armdyn.{name}>`"


def show_equations(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Indented lines above a docstring's first section are equations: shown as they stand."""
    end = next((k for k, line in enumerate(lines) if set(line) == {"-"}), len(lines))
    for k in range(end - 1, 1, -1):
        if lines[k].startswith("    ") and not lines[k - 1] and not lines[k - 2].startswith("    "):
            lines[k:k] = [".. code-block:: text", ""]


def skip_fields(app: object, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Fields of named tuples are in the signature; what Python says of them is their number alone."""
    return True if type(thing).__name__ == "_tuplegetter" else None


def check_formulas(app: object) -> None:
    """Warn of pages whose formulas are not those that the code prints."""
    sys.path.insert(0, str(Path(__file__).parent))
    import formulas

    for page in formulas.stale():
        logging.getLogger(__name__).warning("%s: run 'python docs/formulas.py'", page.name)


def setup(app: object) -> None:
    """Sphinx calls this before it reads the pages."""
    app.connect("builder-inited", write_reference)  # type: ignore[attr-defined]
    app.connect("source-read", link_names)  # type: ignore[attr-defined]
    app.connect("builder-inited", check_formulas)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", show_equations, 400)  # type: ignore[attr-defined]  # before numpydoc's
    app.connect("autodoc-skip-member", skip_fields)  # type: ignore[attr-defined]
    app.connect("autodoc-process-signature", shorten_signature)  # type: ignore[attr-defined]
    app.connect("build-finished", write_llms_txt)  # type: ignore[attr-defined]

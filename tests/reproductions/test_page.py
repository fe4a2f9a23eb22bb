"""Files of a reproduction, and the command that writes them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from tests.raising import raises
from typer.testing import CliRunner

from armdyn.cli.app import app
from armdyn.errors import ArmdynError
from reproductions.case import FAILS, Case, Picture, Table, check, claim
from reproductions.cases import CASES, reproduce
from reproductions.page import MARK, markdown, page, print_into, write


def made(good: bool = True) -> Case:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1])
    rows = (check("a < b", "yes", "3 < 4", good), claim("faster", "yes", "no", False, "other <data>"))
    tables = (Table("Table 1", ("name", "value "), (("x", "1.5"),)),)
    return Case("made", "A case", ("assumed & said",), rows, (Picture("line", "A line", figure),), tables)


def test_files_and_page(tmp_path):
    html, png = write(made(), tmp_path / "new")
    assert (html.name, png.name) == ("made.html", "made-line.png")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = html.read_text()
    assert "a &lt; b" in text
    assert "other &lt;data&gt;" in text
    assert "assumed &amp; said" in text
    assert "Table 1" in text
    assert "<svg" in text
    assert "http://" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )


def test_a_statement_that_fails_stands_out():
    assert made().good
    bad = made(good=False)
    assert not bad.good
    assert bad["a < b"].verdict == FAILS
    assert 'class="warn"' in page(bad)


def test_a_markdown_page_is_printed_below_its_mark(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"by hand\n{MARK}\nfrom an earlier run\n")
    print_into(path, [made()])
    text = path.read_text()
    assert text.startswith(f"by hand\n{MARK}\n\n## A case\n")
    assert "from an earlier run" not in text
    assert "| a < b | yes | 3 < 4 | holds |  |" in text
    assert "| x | 1.5 |" in text
    print_into(tmp_path / "new.md", [made()])
    assert (tmp_path / "new.md").read_text().endswith(markdown(made()))
    path.write_text("no mark")
    with raises(ArmdynError, expected=re.compile("^a page with the line")):
        print_into(path, [made()])
    assert path.read_text() == "no mark"


def test_bars_in_cells_do_not_end_them():
    case = Case("made", "A case", (), (check("|H'T|/|T|", "", "", True),), ())
    assert "| \\|H'T\\|/\\|T\\| |" in markdown(case)


def test_the_command_prints_a_page_of_all_documents_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("reproductions.cases.reproduce", lambda name, quick, tell, seed: made())
    target = tmp_path / "all.md"
    arguments = ["--out", str(tmp_path), "--page", str(target)]
    assert CliRunner().invoke(app, ["reproduce", "ece470", *arguments]).exit_code == 2
    assert not target.exists()
    assert CliRunner().invoke(app, ["reproduce", "all", *arguments]).exit_code == 0
    assert target.read_text().count("## A case") == len(CASES)


def test_unknown_names_are_rejected():
    with raises(ArmdynError, cause="unknown case 'lu-meng'", expected=re.compile("^one of")):
        reproduce("lu-meng")


def test_the_command_writes_prints_and_lists(tmp_path):
    runner = CliRunner()
    listed = runner.invoke(app, ["reproduce"])
    assert listed.exit_code == 0
    assert "lu-meng-1993" in listed.stdout
    done = runner.invoke(app, ["reproduce", "vukobratovic-1979", "--quick", "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["cases"][0]["good"]
    assert all((tmp_path / name).exists() for name in ("vukobratovic-1979.html", "vukobratovic-1979-figures-7-8.png"))


def test_the_command_fails_when_a_statement_does(tmp_path, monkeypatch):
    monkeypatch.setattr("reproductions.cases.reproduce", lambda name, quick, tell, seed: made(good=False))
    done = CliRunner().invoke(app, ["reproduce", "lu-meng-1993", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert FAILS in done.output
    assert "1.5" in done.output


def test_ctrl_c_keeps_what_is_complete(tmp_path, monkeypatch):
    def interrupted(name, quick, tell, seed):
        if name != "eindhoven-1987":
            raise KeyboardInterrupt
        return made()

    monkeypatch.setattr("reproductions.cases.reproduce", interrupted)
    done = CliRunner().invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert done.exit_code == 130
    assert "interrupted while reproducing lu-meng-1993, 2 of 5; complete in" in done.output
    assert (tmp_path / "made.html").exists()


def test_the_package_says_where_reproductions_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from armdyn import reproduce as way

    for name in [name for name in sys.modules if name.partition(".")[0] == "reproductions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(way, "FOLDER", tmp_path)
    with pytest.raises(ArmdynError, match=r"folder reproductions/ of armdyn's source: install it"):
        way.reproduce("ece470")

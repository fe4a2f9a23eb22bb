"""The check of pages names each fault, and nothing on a page without any."""

from __future__ import annotations

from tools.check_pages import faults, page_files

GOOD = """<!doctype html><html lang="en"><head><title>A</title></head><body style="margin:0"><p>text</p>
<div style="overflow-x:auto"><div style="width:900px">wide, and scrolls by itself</div></div>
<svg role="img" aria-label="a line" width="9" height="9"></svg><img alt="a dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></body></html>"""  # noqa: E501
BAD = {
    "no title": ("<title>A</title>", ""),
    "no language": (' lang="en"', ""),
    "picture without a text": ('alt="a dot"', ""),
    "drawing without a text": (' aria-label="a line"', ""),
    "contrast 3.54": ("<p>", '<p style="color:#888">'),
    "contrast 2.44": ("<p>", '<p style="background:#00f;color:#000">'),
    "wider than a phone": ("overflow-x:auto", ""),
}


def test_each_fault_is_named(browser, tmp_path):
    path = tmp_path / "a.html"
    path.write_text(GOOD)
    assert faults(browser, path) == []
    for fault, change in BAD.items():
        path.write_text(GOOD.replace(*change))
        found = faults(browser, path)
        assert found, fault
        assert all(text.startswith(fault) for text in found), found
    assert list(page_files([tmp_path, path])) == [path, path]


def test_a_home_page_has_a_limit(browser, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(GOOD + "<!--" + "x" * 1_000_000 + "-->")
    assert faults(browser, path) == []
    (tmp_path / "searchindex.js").write_text("")
    assert faults(browser, path) == ["the home page loads 1.00 MB"]

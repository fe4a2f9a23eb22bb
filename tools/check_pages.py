"""Check HTML pages in Chromium: titles, texts of pictures, contrast, no sideways scrolling, a light home page.

python tools/check_pages.py build/html report.html    # folders or files; the exit code is 1 where anything is wrong
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

PHONE_WIDTH, DESK_WIDTH = 390, 1280  # pixels
MIN_CONTRAST = 4.5  # WCAG 2, level AA, for text of any size
MAX_HOME_BYTES = 1_000_000  # of the home page of a site, with all that it loads
# In the page: pictures without a text, and texts with too little contrast to what lies behind them.
FAULTS = """least => {
  const found = [];
  if (!document.title.trim()) found.push("no title");
  if (!document.documentElement.lang) found.push("no language");
  for (const e of document.querySelectorAll("img:not([alt]), img[alt='']:not([role=presentation])"))
    found.push("picture without a text: " + e.src.slice(0, 60));
  for (const e of document.querySelectorAll("svg"))
    if (e.checkVisibility() && !e.closest("[aria-hidden=true], button, label, a, svg svg, .icon, figure[aria-label]")
        && !e.getAttribute("aria-label") && !e.querySelector("title"))
      found.push("drawing without a text: " + e.outerHTML.slice(0, 60));
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n[3] ?? 1]; };
  const over = (a, b) => a.slice(0, 3).map((x, k) => x * a[3] + b[k] * (1 - a[3])).concat(1);
  const light = c => c.slice(0, 3).map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
    .reduce((sum, x, k) => sum + x * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = e => {
    const grounds = [];
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); grounds.push(c);
      if (c[3] === 1) break; }
    return grounds.reduceRight((below, c) => over(c, below), [255, 255, 255, 1]);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = new Set();
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), e = walk.currentNode.parentElement;
    if (!text || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})
        || e.closest("svg, script, style, mjx-container")) continue;
    const ground = behind(e), ink = over(parse(getComputedStyle(e).color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    const place = `${getComputedStyle(e).color} on ${ground.map(Math.round).slice(0, 3)}`;
    if (ratio < least && !seen.has(place)) { seen.add(place);
      found.push(`contrast ${ratio.toFixed(2)}: ${place}: ${e.tagName}.${e.className} ${text.slice(0, 40)}`); }
  }
  return found;
}"""
WIDER = """width => document.documentElement.scrollWidth <= width ? [] : [...document.querySelectorAll("body *")]
  .filter(e => e.getBoundingClientRect().right > width + 1 && e.checkVisibility()).slice(-2)
  .map(e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40))"""


def page_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The pages among files and below folders."""
    for path in paths:
        yield from sorted(path.rglob("*.html")) if path.is_dir() else [path]


def faults(browser: Any, path: Path) -> list[str]:
    """Return the faults of a page, a sentence each."""
    tab, loaded = browser.new_page(viewport={"width": DESK_WIDTH, "height": 900}), []
    tab.on("request", lambda request: loaded.append(request.url))
    tab.goto(path.absolute().as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
    found = list(tab.evaluate(FAULTS, MIN_CONTRAST))
    tab.set_viewport_size({"width": PHONE_WIDTH, "height": 844})
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found += [f"wider than a phone: {place}" for place in tab.evaluate(WIDER, PHONE_WIDTH)]
    tab.close()
    size = sum(Path(unquote(urlsplit(url).path)).stat().st_size for url in set(loaded) if url.startswith("file:"))
    if path.name == "index.html" and (path.parent / "searchindex.js").exists() and size > MAX_HOME_BYTES:
        found.append(f"the home page loads {size / 1e6:.2f} MB")
    return list(dict.fromkeys(found))


def main(paths: list[Path]) -> int:
    """Check pages, print faults, return the exit code."""
    from playwright.sync_api import sync_playwright

    count = wrong = 0
    with sync_playwright() as engine:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for path in page_files(paths):
            count += 1
            for text in faults(browser, path):
                wrong += 1
                print(f"{path}: {text}")
        browser.close()
    print(f"{count} pages, {wrong} faults")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))

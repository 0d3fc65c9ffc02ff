"""Reports in a real browser: nothing clipped, nothing overlapping, nothing that keeps people out.

Run where Chromium is installed, as `.ci/system` does, with axe from `axe-core-python`.
"""

import html
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import bistochastic as bs
from bistochastic.population import PLAN, people
from tests.pages import ROOT
from tests.report.pages import KEY, released, survey

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = importlib.util.find_spec("axe_core_python")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here"),
    pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed"),
]

# Looks at the page as it is laid out, then asks axe, and leaves what was found in the page.
LOOK = """
addEventListener("load", async () => {
  const width = WIDTH, root = document.documentElement, found = {wide: [], clipped: [], over: []};
  root.style.width = width + "px";
  document.querySelectorAll("details").forEach(one => { one.open = OPEN; });
  for (const one of document.querySelectorAll("body *"))
    if (!one.closest(".scroll, pre, .hidden, .skip, svg")
        && one.getBoundingClientRect().right > width + 1)
      found.wide.push(one.outerHTML.slice(0, 80));
  for (const svg of document.querySelectorAll("svg")) {
    const sheet = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map(one => [one.textContent,
      one.getBoundingClientRect()]);
    texts.forEach(([said, box], place) => {
      if (box.left < sheet.left - 1 || box.right > sheet.right + 1 || box.top < sheet.top - 1
          || box.bottom > sheet.bottom + 1) found.clipped.push(said);
      for (const [other, its] of texts.slice(0, place))
        if (Math.min(box.right, its.right) - Math.max(box.left, its.left) > 1
            && Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 3)
          found.over.push([said, other]);
    });
  }
  const told = await axe.run(document, {resultTypes: ["violations"]});
  found.axe = told.violations.map(one => [one.id, one.impact, one.nodes[0].html.slice(0, 80)]);
  const end = document.createElement("pre");
  end.id = "FOUND";
  end.textContent = JSON.stringify(found);
  document.body.append(end);
});
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Reports of the demonstration, of every treatment, and of the files that everybody knows."""
    folder = tmp_path_factory.mktemp("reports")
    table = people()
    demo = bs.protect(table, bs.Plan.from_text(PLAN), KEY)
    demo.report(folder / "demo.html", audience="internal", original=table)
    released(survey(500)).report(folder / "every.html", audience="internal", original=survey(500))
    for name in ("testdata", "adult"):
        path = ROOT.parent / "shared" / "data" / f"{name}.csv"
        if path.is_file():
            plan = bs.Plan.from_text(bs.inspect(path))
            bs.protect(path, plan, KEY).report(folder / f"{name}.html")
    return folder


def looked(page, folder, *, width, dark, opened):
    """What a browser finds in a page of such a width."""
    axe = Path(str(AXE.submodule_search_locations[0])) / "axe.min.js"
    script = LOOK.replace("WIDTH", str(width)).replace("OPEN", "true" if opened else "false")
    text = page.read_text("utf-8")
    copy = folder / f"{page.stem}-{width}.html"
    scripts = f"<script>{axe.read_text('utf-8')}</script><script>{script}</script></head>"
    copy.write_text(text.replace("</head>", scripts), "utf-8")
    arguments = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        f"--window-size={max(width, 500)},900", "--virtual-time-budget=60000", "--dump-dom",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--blink-settings=preferredColorScheme={1 - dark}",
        copy.as_uri(),
    ]  # fmt: skip
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=300).stdout
    found = re.search(r'<pre id="FOUND">(.*?)</pre>', told, re.DOTALL)
    assert found, told[-500:]
    return json.loads(html.unescape(found[1]))


@pytest.mark.parametrize("name", ["demo", "every", "testdata", "adult"])
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_a_browser_finds_nothing(name, width, dark, places, tmp_path):
    """No text is clipped or lies on another, nothing is too wide, and axe has no complaint."""
    page = places / f"{name}.html"
    if not page.is_file():
        pytest.skip(f"{name}.csv is not there")
    assert looked(page, tmp_path, width=width, dark=dark, opened=dark) == {
        "wide": [], "clipped": [], "over": [], "axe": [],
    }  # fmt: skip


def test_the_browser_would_find_something(places, tmp_path):
    """A page that is harmed is found out: a text too long, a picture unnamed, ink too faint."""
    text = (places / "demo.html").read_text("utf-8")
    harmed = tmp_path / "harmed.html"
    text = re.sub(r"<text ([^>]*)>employed", r"<text \1>" + "employed " * 20, text)
    twice = '<text x="50" y="50">one</text><text x="52" y="51">other</text></svg>'
    text = text.replace("</svg>", twice, 1)
    text = text.replace("<h1>", '<h1 style="color:#eee">').replace('<html lang="en">', "<html>")
    harmed.write_text(text, "utf-8")
    found = looked(harmed, tmp_path, width=390, dark=False, opened=False)
    assert found["clipped"]
    assert found["over"]
    assert {"color-contrast", "html-has-lang"} <= {one[0] for one in found["axe"]}


def test_a_report_prints(places, tmp_path):
    """On paper it has pages."""
    paper = tmp_path / "report.pdf"
    subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--print-to-pdf={paper}",
         (places / "demo.html").as_uri()],
        capture_output=True, timeout=300, check=True,
    )  # fmt: skip
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) > 5

"""A report is one whole page that needs nothing else, and says what is so."""

import itertools
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import bistochastic as bs
from bistochastic.report.drawing.sheet import COLOURS
from bistochastic.report.page import DARK
from tests.report.pages import KEY, Read, plan, released, survey


@pytest.fixture(scope="module", params=["public", "internal"])
def page(request, tmp_path_factory):
    """Both reports of one release."""
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    original = survey() if request.param == "internal" else None
    released().report(path, audience=request.param, original=original)
    return path.read_text("utf-8")


def test_a_page_needs_nothing_but_itself(page):
    """No script, no address but places in the page, nothing that a browser would fetch."""
    read = Read(page)
    tags = {tag for tag, _ in read.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert all(link.startswith("#") for link in read.links)
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert not re.search(r"url\(|@import|@font-face|javascript:|\son\w+=", page)
    outside = set(re.findall(r"https?://[^\"'\s<]+", page))
    assert outside <= {"http://www.w3.org/2000/svg"}  # a name, which nobody fetches


def test_a_page_is_well_formed(page):
    """Every element is closed, ids are unique, headings go down one step at a time."""
    read = Read(page)
    assert len(set(read.ids)) == len(read.ids)
    assert set(read.labelled) <= set(read.ids)
    levels = [level for level, _ in read.headings]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    tags = [tag for tag, _ in read.tags]
    assert [tags.count(tag) for tag in ("main", "nav", "header", "footer")] == [1, 1, 1, 1]
    assert dict(read.tags)["html"]["lang"] == "en"


def test_a_page_is_valid_html(page):
    """The strict parser of the standard finds no fault."""
    html5lib = pytest.importorskip("html5lib", reason="the checker of HTML is not installed")
    html5lib.HTMLParser(strict=True).parse(page)


def test_every_drawing_has_its_numbers_and_says_what_is_better(page):
    """Each figure has a title, a description, a caption with a direction, and a table."""
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(figures) >= 15
    for figure in figures:
        assert re.search(r'<svg viewBox="[^"]+" role="img"[^>]*><title>[^<]+</title><desc>[^<]+',
                         figure)  # fmt: skip
        caption = re.search(r"<figcaption><p>(.*?)</p>", figure, re.DOTALL)
        assert caption
        assert "better" in caption[1], caption[1]
        assert re.search(r"<details><summary>Numbers.*?<table>.*?<td", figure, re.DOTALL)


def test_a_page_is_the_same_again(tmp_path):
    """Nothing in a report depends on when or where it is made."""
    one, two = (released().report(tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def test_what_a_page_opens_with(page):
    """A sentence for the file and one for each column, with the numbers of the manifest."""
    manifest = released().manifest
    lead = Read(
        re.search(r'<section aria-labelledby="lead">.*?</section>', page, re.DOTALL)[0]
    ).text
    for column in manifest.columns:
        assert column.name in lead
    assert "2,000 rows and 10 columns" in lead
    region = manifest.column("region").guarantee
    assert region is not None
    assert f"the true one is reported {region.truth_mean:.0%} of the time" in lead
    assert f"Epsilon is {region.epsilon:.3g}" in lead
    assert "house is replaced by pseudonyms" in lead
    assert "person is left out" in lead
    assert "weight is published as it is: it is not protected" in lead
    assert "smoker is randomised together with ill" in lead
    assert "income keeps every number, once each, but at another row: it may come from any of "\
        "about 50 rows" in lead  # fmt: skip


def test_reported_shares_are_those_of_the_release(page):
    """The numbers of a distribution are counted in the published table."""
    shares = released().data["region"].value_counts(normalize=True)
    figure = page.partition("Distribution of region</p>")[2].partition("</figure>")[0]
    for label, share in shares.rows():
        line = re.search(rf'<th scope="row">{label}</th><td class="numbers">([\d.]+)%</td>', figure)
        assert line
        assert float(line[1]) == pytest.approx(100 * share, abs=0.51)


def test_estimates_are_those_of_analysts(tmp_path):
    """The estimate in the table is the matrix undone, and blocks have none."""
    release = released()
    text = release.report(tmp_path / "r.html").read_text("utf-8")
    shares = dict(release.data["region"].value_counts(normalize=True).rows())
    seen = [shares[label] for label in ("coast", "hills", "plain")]
    wanted = release.manifest.channel("region").rsolve(seen)
    figure = text.partition("Distribution of region</p>")[2].partition("</figure>")[0]
    lines = re.findall(r"<tr><th[^>]*>(\w+)</th>" + r"<td[^>]*>([−\d.]+)%</td>" * 4, figure)
    told = {label: float(estimate) for label, _, estimate, *_ in lines}
    for label, share in zip(("coast", "hills", "plain"), wanted, strict=True):
        assert told[label] == pytest.approx(100 * share, abs=0.51)
    blocks = text.partition("Distribution of school</p>")[2].partition("</figure>")[0]
    assert "estimate" not in blocks
    assert "only sums over labels that are treated alike can" in text


def test_the_original_is_told_inside_only(tmp_path):
    """A frame for the truth stands in the internal report, and none in the public one."""
    table = survey().with_columns(region=pl.lit("coast"))
    release = bs.protect(table, plan(), KEY)
    public = release.report(tmp_path / "public.html").read_text("utf-8")
    inside = release.report(
        tmp_path / "internal.html", audience="internal", original=table
    ).read_text("utf-8")
    assert ">original<" not in public
    assert "Confidential" not in public
    assert ">original<" in inside
    assert "Confidential: it holds numbers of the original." in inside
    for title in ("Risk: how far values moved", "Risk: who can be linked",
                  "Loss: the pairs most changed", "Loss: column by column"):  # fmt: skip
        assert f">{title}</h2>" in inside
        assert title not in public


def test_a_prior_is_the_readers(tmp_path):
    """The posterior is that of the prior that is given."""
    path = released().report(tmp_path / "r.html", prior={"region": [0.9, 0.05, 0.05]})
    text = path.read_text("utf-8")
    read = bs.disclosure(released().manifest.channel("region"), [0.9, 0.05, 0.05])
    figure = text.partition("What a report of region tells</p>")[2].partition("</figure>")[0]
    assert re.search(r'<th scope="row">coast</th><td[^>]*>90%</td>', figure)
    assert f"{float(read.posterior[0, 0]):.0%}"[:2] in figure
    assert read.summary in figure


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"audience": "everybody"}, "There is no audience 'everybody'"),
        ({"audience": "internal"}, "Give the original"),
        ({"original": "people.csv"}, "A public report tells nothing of the original"),
        ({"prior": {"region": [1.0]}}, "needs a share for each of its 3 categories; got 1"),
        ({"prior": {"region": [0.5, 0.6, 0.2]}}, "must be shares that sum to one"),
        ({"prior": {"region": [1.5, -0.5, 0.0]}}, "must be shares that sum to one"),
        ({"prior": {"income": [0.5, 0.5]}}, "needs a share for each of its 0 categories"),
        ({"prior": {"nothing": [1.0]}}, "has no column 'nothing'"),
    ],
)
def test_refusals(said, says, tmp_path):
    """What cannot be told is refused before anything is written."""
    with pytest.raises(bs.ReleaseError, match=re.escape(says)):
        released().report(tmp_path / "r.html", **said)
    assert not list(tmp_path.iterdir())


def test_a_report_is_never_written_over(tmp_path):
    """A file that is there stays as it is."""
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(bs.ReleaseError, match="exists and is not written over"):
        released().report(path)
    assert path.read_text() == "mine"
    with pytest.raises(bs.ReleaseError, match="cannot be written"):
        released().report(tmp_path / "nowhere" / "r.html")


LABELS = [
    "a<b>&amp;\"'",
    "漢字 " * 9,
    "$x^2$",
    "\\alpha_1",
    "{{ 7 * 7 }}",
    "-->",
    "\x07 bell",
    "é\u0301",
]


def test_labels_of_any_letters(tmp_path):
    """No label is taken for markup, for a formula or for a template, whatever its letters."""
    choose = np.random.default_rng(1)
    table = pl.DataFrame({"<x> & y": choose.choice(LABELS, 500)})
    said = {"role": "key", "kind": "nominal", "domain": LABELS, "missing": "refuse",
            "matrix": "mixture", "beta": 0.5}  # fmt: skip
    release = bs.protect(table, bs.Plan(release="<r> & {{ 1 }}", columns={"<x> & y": said}), KEY)
    text = release.report(tmp_path / "r.html").read_text("utf-8")
    read = Read(text)
    assert "<r> & {{ 1 }}" in read.texts
    assert "49" not in read.text.split()
    for label in LABELS:
        assert label.replace("\x07", "\ufffd") in read.texts
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", text)


def test_a_domain_of_thousands(tmp_path):
    """Thousands of categories stay legible and small, and are not laid out where they are many."""
    size = 3000
    said = {"role": "key", "kind": "ordinal", "domain": {"first": 1, "last": size},
            "missing": "refuse", "matrix": "mixture", "epsilon": 3.0}  # fmt: skip
    table = pl.DataFrame({"code": np.arange(9000) % size + 1})
    release = bs.protect(table, bs.Plan(release="r", columns={"code": said}), KEY)
    text = release.report(tmp_path / "r.html").read_text("utf-8")
    assert len(text.encode()) < 200_000
    assert "3,000 categories are gathered into 40 groups" in text
    assert "more lines are left out here" in text


def test_an_empty_table(tmp_path):
    """A release of nobody has a report too."""
    release = released(survey().clear())
    read = Read(release.report(tmp_path / "r.html").read_text("utf-8"))
    assert "0 rows and 10 columns" in read.text
    inside = release.report(tmp_path / "i.html", audience="internal", original=survey().clear())
    assert "0 rows" in Read(inside.read_text("utf-8")).text


def test_ink_and_paper_stay_apart():
    """Texts of both palettes have the contrast that the standard asks for (WCAG, AA)."""
    for palette in (COLOURS, DARK):
        assert palette.keys() == COLOURS.keys()
        for name in ("ink", "soft", "accent", "second", "third"):
            assert contrast(palette[name], palette["paper"]) >= 4.5, name
            assert contrast(palette[name], palette["shade"]) >= 4.5 or name != "ink"


def contrast(one, two):
    """The ratio of two luminances."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """How light a colour is."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_drawing_touches_nothing_global(tmp_path):
    """Neither the state of Matplotlib's interface nor its settings are changed by a report."""
    program = (
        "import matplotlib; before = dict(matplotlib.rcParams)\n"
        "from tests.report.pages import released\n"
        f"released().report({str(tmp_path / 'r.html')!r})\n"
        "import matplotlib.pyplot as plot; assert plot.get_fignums() == []\n"
        "assert dict(matplotlib.rcParams) == before\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)

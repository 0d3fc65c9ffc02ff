"""A plan says what it means, or every mistake is named with its line, its key and the remedy."""

import json

import pytest

import bistochastic as bs
from bistochastic.errors import PlanError
from bistochastic.plan.families import FAMILIES
from bistochastic.plan.lines import line_of, lines_of
from bistochastic.plan.plan import Plan

HEAD = 'release = "r"\n'
SEX = '[columns.sex]\nrole = "key"\nkind = "nominal"\ndomain = ["f", "m"]\n'
AGE = '[columns.age]\nrole = "key"\nkind = "ordinal"\ndomain = {first = 0, last = 9}\n'
PAY = '[columns.pay]\nrole = "confidential"\nkind = "numeric"\n'
JOB = '[columns.job]\nrole = "key"\nkind = "nominal"\ndomain = ["x", "y", "z"]\n'

MISTAKES = {
    "no TOML": ("release = ", "plan.toml is not valid TOML"),
    "no release": (SEX, 'release: is missing. Write release = "…"'),
    "no column": (HEAD, r"names no column: write a table \[columns.NAME\]"),
    "no role": (HEAD + "[columns.sex]\n", "line 2, columns.sex.role: is missing. Write role"),
    "unknown role": (HEAD + '[columns.sex]\nrole = "kee"', "line 3, columns.sex.role: must be 'id"),
    "unknown key": (HEAD + SEX + "betta = 1", "line 6, columns.sex.betta: is not known here. Did"),
    "unknown top key": (HEAD + "relese = 1\n" + SEX, "relese: is not known here. Did you mean 're"),
    "share in percent": (HEAD + SEX + 'matrix = "mixture"\nbeta = 30', "must be at most 1.0; got"),
    "text for number": (HEAD + SEX + 'matrix = "mixture"\nbeta = "a"', "beta: must be a number; "),
    "number for text": (HEAD + SEX + "matrix = 3", "matrix: must be a text; got 3"),
    "k below one": (HEAD + SEX + 'matrix = "mixture"\nk = 0.5', "k: must be at least 1"),
    "label twice": (HEAD + SEX.replace('"m"', '"f"'), "names the label 'f' twice"),
    "empty domain": (HEAD + SEX.replace('["f", "m"]', "[]"), "needs at least one label"),
    "no list": (HEAD + SEX.replace('["f", "m"]', "3"), "domain: must be a list of labels, or"),
    "span upside down": (HEAD + AGE.replace("last = 9", "last = -1"), "needs first <= last"),
    "NaN label": (HEAD + SEX.replace('"m"', "nan"), "holds NaN, which equals nothing"),
    "domain twice": (HEAD + SEX + 'domain_file = "x"', "is given, and domain too"),
    "no such file": (
        HEAD + SEX.replace('domain = ["f", "m"]', 'domain_file = "none.txt"'),
        "columns.sex.domain_file: cannot be read as a text",
    ),
    "matrix without target": (HEAD + SEX + 'matrix = "mixture"', "how private: beta, bits"),
    "target without matrix": (HEAD + SEX + "beta = 0.5", "asks for something of no matrix"),
    "no such matrix": (HEAD + SEX + 'matrix = "magic"', "matrix: must be one of mixture, secrecy"),
    "neighbours of a nominal": (
        HEAD + JOB + 'matrix = "tridiagonal"\nbits = 0.5',
        "takes neighbours in the domain to be alike",
    ),
    "foreign parameter": (HEAD + SEX + 'matrix = "mixture"\nbeta = 0.5\nwidth = 1', "is no param"),
    "target and shape": (HEAD + AGE + 'matrix = "window"\nbeta = 0.5\nwidth = 1', "width: fixes"),
    "two shapes": (HEAD + AGE + 'matrix = "window"\nwidth_share = 0.1\nwidth = 1', "width does"),
    "target of a fixed one": (HEAD + SEX + 'matrix = "secrecy"\nbeta = 0.5', "which is fixed"),
    "share of ranks": (HEAD + AGE + 'matrix = "window"\nwidth_share = 0.1', "share of the ranks"),
    "prior alone": (
        HEAD + SEX + 'matrix = "mixture"\nbeta = 0.5\nprior = [0.5, 0.25, 0.25]',
        "prior: goes with deniability",
    ),
    "unreachable": (HEAD + AGE + 'matrix = "tridiagonal"\nbeta = 0.9', "beta goes from 0 to 0.4"),
    "wrong size": (
        HEAD + SEX + 'matrix = "circulant"\nfirst_row = [0.5, 0.5]',
        "what is given has size 2, but 3 is needed",
    ),
    "too rare": (
        HEAD + AGE + 'missing = "refuse"\nmatrix = "optimal"\nbeta = 0.1',
        "so rare that no 64-bit word would ever draw them",
    ),
    "plain but masked": (HEAD + '[columns.x]\nrole = "plain"\nmatrix = "mixture"', "never rand"),
    "plain pseudonym": (HEAD + '[columns.x]\nrole = "plain"\npseudonym = true', "is for ident"),
    "key pseudonym": (HEAD + SEX + "pseudonym = true", "is for identifiers and households"),
    "no kind": (HEAD + '[columns.x]\nrole = "key"\nmatrix = "mixture"\nbeta = 0.5', "needs a kind"),
    "no domain": (
        HEAD + '[columns.x]\nrole = "key"\nkind = "nominal"\nmatrix = "mixture"\nbeta = 0.5',
        "never learnt from the data in silence",
    ),
    "how of categories": (HEAD + SEX + 'how = "draw"', "how: is for numeric columns"),
    "other not a label": (HEAD + SEX + 'other = "x"', "must be one of the labels of the domain"),
    "no how": (HEAD + PAY + 'matrix = "blocks"\nk = 3', 'needs how = "permute"'),
    "how alone": (HEAD + PAY + 'how = "draw"', "is said, but no matrix"),
    "domain of numbers": (HEAD + PAY + "domain = [1]", "this one is numeric"),
    "missing as a number": (HEAD + PAY + 'missing = "category"', '"keep" or "refuse"'),
    "ordered by nothing": (
        HEAD + PAY + 'how = "draw"\nmatrix = "blocks"\nk = 3\nby = "x"',
        'must be "value", "position" or another column',
    ),
    "ranks need columns": (
        HEAD + PAY + 'how = "draw"\nmatrix = "stochastic"\narray = [[1.0]]',
        "is not bistochastic, as ranks need it",
    ),
    "array of ranks": (HEAD + PAY + 'how = "draw"\nmatrix = "dense"\narray = [[1.0]]', "for categ"),
    "records": (HEAD.replace("\n", '\nrecords = "id"\n') + SEX, "records: names 'id', which is no"),
    "group of one": (HEAD + SEX + '[[together]]\ncolumns = ["sex"]', r"together\[0\].columns: m"),
    "group twice": (
        HEAD + SEX + '[[together]]\ncolumns = ["sex", "sex"]\nmatrix = "secrecy"',
        "names a column twice",
    ),
    "group of strangers": (
        HEAD + SEX + '[[together]]\ncolumns = ["sex", "x"]\nmatrix = "secrecy"',
        "line 7, together.0..columns: names 'x', which is no column",
    ),
    "group of numbers": (
        HEAD + SEX + PAY + '[[together]]\ncolumns = ["sex", "pay"]\nmatrix = "secrecy"',
        "names 'pay', which is not categorical",
    ),
    "group with plain": (
        HEAD + SEX + '[columns.w]\nrole = "weight"\n[[together]]\ncolumns = ["sex", "w"]\n'
        'matrix = "secrecy"',
        "whose role is 'weight'",
    ),
    "two groups": (
        HEAD + SEX + JOB + '[[together]]\ncolumns = ["sex", "job"]\nmatrix = "secrecy"\n' * 2,
        "names 'sex', which another group has",
    ),
    "group and own": (
        HEAD + SEX + 'matrix = "secrecy"\n' + JOB
        + '[[together]]\ncolumns = ["sex", "job"]\nmatrix = "secrecy"\n',
        r"belongs to the \[\[together\]\] group",
    ),
    "group keeps gaps": (
        HEAD + SEX + 'missing = "keep"\n' + JOB
        + '[[together]]\ncolumns = ["sex", "job"]\nmatrix = "secrecy"\n',
        "what is reported beside a missing value would tell of it",
    ),
    "group without matrix": (
        HEAD + SEX + JOB + '[[together]]\ncolumns = ["sex", "job"]',
        "needs a matrix: mixture, secrecy",
    ),
    "group on a line": (
        HEAD + SEX + JOB + '[[together]]\ncolumns = ["sex", "job"]\nmatrix = "window"\nwidth = 1',
        "has no meaning on combinations of columns",
    ),
    "invariant to nothing": (HEAD + SEX + 'matrix = "invariant"\ntruth = 0.8', "distribution to"),
    "taxonomy of others": (
        HEAD + JOB + 'missing = "refuse"\nmatrix = "diffusion"\ntime = 1.0\n'
        'parents = {x = "top", q = "top", z = "top"}',
        "leaves of the taxonomy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_every_mistake_has_its_words(name):
    """Each names the plan, the key and, where there is one, the line, and what to do."""
    text, words = MISTAKES[name]
    with pytest.raises(PlanError, match=words) as refusal:
        Plan.from_text(text, name="plan.toml")
    assert str(refusal.value).startswith("plan.toml")
    assert "pydantic" not in str(refusal.value)


def test_all_mistakes_are_told_at_once_and_in_order():
    """Nobody wants to find them one by one."""
    text = HEAD + SEX + "betta = 1\nwidht = 2\n" + PAY + 'how = "fly"'
    with pytest.raises(PlanError) as refusal:
        Plan.from_text(text)
    told = str(refusal.value)
    assert "3 mistakes" in told
    assert told.index("betta") < told.index("widht") < told.index("fly")


def test_lines_are_found_through_long_strings_lists_and_comments():
    """Keys inside strings or lists are none, quoted names are names."""
    text = (
        'a = """\nb = 1\n"""\nc = [ # [x]\n  "d = 1",\n]\n["odd name".x]\n'
        "e.f = 1\n'g' = 2\n[[t]]\nh = 1\n[[t]]\nh = 2\n"
    )
    lines = lines_of(text)
    assert lines[("a",)] == 1
    assert ("b",) not in lines
    assert lines[("c",)] == 4
    assert ("d",) not in lines
    assert lines[("odd name", "x", "e", "f")] == 8
    assert lines[("odd name", "x", "g")] == 9
    assert lines[("t", 1, "h")] == 13
    assert line_of(lines, ("t", 0, "unknown")) == 10
    assert line_of(lines, ("unknown",)) is None


ALL = {
    "mixture": ("nominal", dict(beta=0.5)),
    "secrecy": ("nominal", {}),
    "tridiagonal": ("ordinal", dict(alphas=[0.2, 0.3])),
    "window": ("ordinal", dict(width=1)),
    "blocks": ("nominal", dict(sizes=[1, 2])),
    "diffusion": ("ordinal", dict(time=1.0)),
    "optimal": ("ordinal", dict(bits=1.2, power=1.0)),
    "circulant": ("nominal", dict(first_row=[0.5, 0.3, 0.2])),
    "dense": ("nominal", dict(array=[[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]])),
    "stochastic": ("nominal", dict(array=[[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]])),
    "invariant": ("nominal", dict(truth=0.8, prior=[0.5, 0.3, 0.2])),
    "optimal-tradeoff": ("nominal", dict(joint=[[5, 3, 1], [1, 2, 6]], distortion=0.3)),
}


def test_every_family_is_listed_here():
    """A new family comes with its example."""
    assert set(ALL) == set(FAMILIES)


@pytest.mark.parametrize("name", ALL)
def test_every_family_makes_what_the_algebra_makes(name):
    """The plan adds nothing to the matrices and takes nothing away."""
    kind, said = ALL[name]
    column = dict(role="key", kind=kind, domain=["a", "b", "c"], missing="refuse", matrix=name)
    made = Plan(release="r", columns={"x": column | said}).treated["x"].matrix
    direct = {
        "mixture": lambda: bs.calibrate("mixture", 3, beta=0.5),
        "secrecy": lambda: bs.secrecy(3),
        "tridiagonal": lambda: bs.Tridiagonal([0.2, 0.3]),
        "window": lambda: bs.Window(3, 1),
        "blocks": lambda: bs.Blocks([1, 2]),
        "diffusion": lambda: bs.diffusion(path=3, time=1.0),
        "optimal": lambda: bs.calibrate("optimal", 3, bits=1.2, power=1.0),
        "circulant": lambda: bs.Circulant([0.5, 0.3, 0.2]),
        "dense": lambda: bs.Dense(said["array"]),
        "stochastic": lambda: bs.Stochastic(said["array"]),
        "invariant": lambda: bs.invariant(bs.Mixture(3, truth=0.8), [0.5, 0.3, 0.2]),
        "optimal-tradeoff": lambda: bs.tradeoff(said["joint"], "hamming", units="bits").channel(
            distortion=0.3
        ),
    }[name]()
    assert made.exact(allow_zeros=True).digest() == direct.exact(allow_zeros=True).digest()


def test_a_missing_category_is_one_more():
    """By default who gave no answer is a category of the channel."""
    plan = Plan.from_text(HEAD + SEX + 'matrix = "mixture"\nepsilon = 1.0')
    assert plan.treated["sex"].matrix.size == 3
    assert plan.treated["sex"].exact.epsilon <= 1.0


def test_a_domain_may_stand_in_a_file(tmp_path):
    """One label a line, beside the plan."""
    (tmp_path / "codes.txt").write_text("ä\nb c\n", encoding="utf-8")
    text = HEAD + SEX.replace('domain = ["f", "m"]', 'domain_file = "codes.txt"')
    (tmp_path / "plan.toml").write_text(text + 'matrix = "secrecy"\n', encoding="utf-8")
    assert Plan.read(tmp_path / "plan.toml").columns["sex"].labels == ("ä", "b c")
    (tmp_path / "codes.txt").write_text("a\na\n", encoding="utf-8")
    with pytest.raises(PlanError, match="domain_file: names the label 'a' twice"):
        Plan.read(tmp_path / "plan.toml")


def test_what_is_written_down_is_the_same_plan():
    """The plan in a manifest makes the same channels again."""
    text = (
        HEAD + SEX + 'matrix = "mixture"\nbeta = 0.5\n' + AGE + "missing = 'refuse'\n"
        'matrix = "diffusion"\nbits = 1.5\n' + PAY + 'how = "permute"\nmatrix = "blocks"\nk = 3\n'
    )
    plan = Plan.from_text(text)
    again = Plan(**json.loads(json.dumps(plan.dump())))
    assert again.said == plan.said
    assert again.dump() == plan.dump()
    assert [part.exact.digest() for part in again.treated.values()] == [
        part.exact.digest() for part in plan.treated.values()
    ]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_plan_that_cannot_be_read(tmp_path, content):
    """A missing file and one that is no text."""
    path = tmp_path / "plan.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PlanError, match=r"cannot be read|is not UTF-8"):
        Plan.read(path)

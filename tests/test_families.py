"""The table says what the matrices say, and fits the terminals it is made for."""

import math
import subprocess
import sys

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import bistochastic as bs
from bistochastic.families import BUDGETS, offers, screen


@pytest.fixture(scope="module")
def given():
    """The offers that the demo shows."""
    return offers()


def shown(given, width: int) -> list[str]:
    """The lines of the demo in a plain terminal of so many columns."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(screen(given, width))
    return capture.get().splitlines()


def cells(lines: list[str], family: str) -> list[list[str]]:
    """The cells of the rows of one family, without its budget."""
    rows = [line.split() for line in lines]
    return [row[row.index(family) + 1 :] for row in rows if family in row[:2]]


@pytest.mark.parametrize("width", [80, 99, 100, 120])
def test_nothing_is_cut_off(given, width):
    """The table fits 80 columns and more, and shortens no cell."""
    lines = shown(given, width)
    assert max(cell_len(line) for line in lines) <= width
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("width", [80, 100])
def test_the_numbers_are_those_of_the_matrices(given, width):
    """A mixture's row tells the bits, beta, epsilon and the rest of that very mixture."""
    rows = cells(shown(given, width), "mixture")
    for budget, row in zip(BUDGETS, rows, strict=True):
        matrix = bs.calibrate("mixture", 12, beta=budget)
        name, truth, bits, beta, _, epsilon, told, least, die, undo, moved = row
        # Off the diagonal all places are equally likely, so the distance moved has a formula.
        mean_square = np.mean([(u - v) ** 2 for u in range(12) for v in range(12) if u != v])
        assert name == "truth"
        assert float(truth) == pytest.approx(matrix.truth, abs=5e-4)
        assert float(bits) == pytest.approx(budget * math.log2(12), abs=5e-3)
        assert float(beta) == pytest.approx(budget, abs=5e-3)
        assert float(epsilon) == pytest.approx(matrix.epsilon, abs=5e-3)
        assert told == f"{matrix.truth:.0%}"
        assert float(least) == pytest.approx(matrix.bits, abs=5e-3)
        assert float(die) == pytest.approx(2**matrix.bits, abs=5e-2)
        assert float(undo.removeprefix("×")) == pytest.approx(
            11 / (12 * matrix.truth - 1), abs=5e-3
        )
        assert float(moved) == pytest.approx((1 - matrix.truth) * mean_square, rel=5e-3)


def test_a_budget_out_of_reach_says_what_is_in_reach(given):
    """Equal alphas of a tridiagonal matrix stop at beta 0.4113, and the demo says so."""
    rows = cells(shown(given, 100), "tridiagonal")
    assert [row[:3] for row in rows[1:]] == [["at", "most", "0.41"]] * 2
    reached = [offer.matrix.beta for offer in given if offer.family == "tridiagonal"]
    assert reached[1:] == pytest.approx([0.4112897665] * 2, abs=1e-6)


def test_no_limit_and_no_way_back_are_told_in_words(given):
    """An infinite epsilon and a singular matrix are not left to a bare symbol."""
    row = cells(shown(given, 100), "blocks")[0]
    assert row[5:7] == ["∞", "none"]
    assert "never" in row


def test_the_time_of_a_diffusion_is_read_back(given):
    """The time shown gives the same matrix again."""
    offer = next(o for o in given if o.family == "diffusion" and o.budget == 0.6)
    again = bs.diffusion(path=12, time=float(offer.parameter.split()[1]))
    assert again.beta == pytest.approx(0.6, abs=1e-3)


def test_the_sentences_quote_the_table(given):
    """What is said below the table are numbers that stand in it."""
    text = " ".join(shown(given, 100))
    middle = {offer.family: offer for offer in given if offer.budget == 0.6}
    assert f"leaves {middle['mixture'].matrix.bits:.2f} bits" in text
    assert f"moves a value by {middle['optimal'].moved:.2f} squared places" in text
    assert f"mixture by {middle['mixture'].moved:.2f}" in text


def test_a_pipe_gets_plain_text():
    """`bistochastic families | cat` prints no escape codes and at most 80 columns."""
    command = [sys.executable, "-X", "utf8", "-m", "bistochastic", "families"]
    env = {"PATH": "", "SYSTEMROOT": "C:\\Windows"}
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=env)
    assert "\x1b" not in run.stdout
    assert "mixture" in run.stdout
    assert max(cell_len(line) for line in run.stdout.splitlines()) <= 80


def test_a_terminal_without_greek_is_no_obstacle():
    """An encoding that lacks a sign gets a question mark in its place, not an error."""
    command = [sys.executable, "-m", "bistochastic", "families"]
    env = {"PATH": "", "PYTHONIOENCODING": "ascii", "SYSTEMROOT": "C:\\Windows"}
    run = subprocess.run(command, capture_output=True, encoding="ascii", check=True, env=env)
    assert "mixture" in run.stdout

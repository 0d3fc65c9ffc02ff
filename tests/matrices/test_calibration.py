"""Calibration: the least private member that meets every target, and honest refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.matrices.calibration import FAMILIES
from bistochastic.matrices.targets import worst_deniability

TAXONOMY = {
    "cat": "mammal", "dog": "mammal", "cow": "mammal", "eagle": "bird", "wren": "bird",
    "mammal": "animal", "bird": "animal",
}  # fmt: skip
CONTINUOUS = ("diffusion", "mixture", "optimal", "tridiagonal")


def largest(matrix):
    """The best guess with equal priors."""
    return float(matrix.to_dense().max())


QUANTITIES = {
    "beta": (lambda m: m.beta, 1),
    "bits": (lambda m: m.bits, 1),
    "epsilon": (lambda m: m.epsilon, -1),
    "truth": (lambda m: m.truthfulness.mean, -1),
    "k": (lambda m: 1 / largest(m), 1),
    "deniability": (worst_deniability, 1),
}


def most_private(family, n):
    """The last member of a branch, found without calibration."""
    if family in ("mixture", "blocks", "diffusion", "optimal"):
        return bs.secrecy(n), None
    if family == "tridiagonal":
        alphas = [0.5] if n == 2 else np.linspace(0.25, 0.5, 100_001)
        best = max(alphas, key=lambda a: tridiagonal_bits(a, n))
        return bs.Tridiagonal([best] * (n - 1)), best
    widths = range(n)
    best = max(widths, key=lambda width: bs.Window(n, width).bits)
    return bs.Window(n, best), best


def tridiagonal_bits(alpha, n):
    """n·bits of equal alphas, from the two kinds of rows."""

    def h(p):
        return -p * math.log2(p) if p > 0 else 0.0

    return 2 * (h(alpha) + h(1 - alpha)) + (n - 2) * (2 * h(alpha) + h(1 - 2 * alpha))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("target", QUANTITIES)
@given(data=st.data())
def test_targets_are_met_and_hardly_exceeded(family, target, data):
    """Every family meets every target it can reach; a continuous one to the twelfth digit."""
    n = data.draw(st.integers(2, 16), label="n")
    quantity, sign = QUANTITIES[target]
    wanted = data.draw(
        {
            "beta": st.floats(0, 1),
            "bits": st.floats(0, math.log2(n)),
            "epsilon": st.floats(0.01, 12),
            "truth": st.floats(1 / n, 1),
            "k": st.floats(1, n),
            "deniability": st.floats(0, math.log2(n)),
        }[target],
        label=target,
    )
    private, _ = most_private(family, n)
    if sign * (quantity(private) - wanted) < -1e-9 * max(1, wanted):
        with pytest.raises(bs.TargetError, match=f"cannot reach {target}="):
            bs.calibrate(family, n, **{target: wanted})
        return
    try:
        matrix = bs.calibrate(family, n, **{target: wanted})
    except bs.TargetError:
        assert sign * (quantity(private) - wanted) <= 1e-9 * max(1, wanted)
        return
    slack = 2e-12 * max(1, wanted)
    assert sign * (quantity(matrix) - wanted) >= -slack
    if family in CONTINUOUS and matrix.bits > 1e-9 and matrix.beta < 1 - 1e-9:
        assert abs(quantity(matrix) - wanted) <= 1e-9 * max(1, wanted)


@pytest.mark.parametrize("family", CONTINUOUS)
def test_the_integers_still_meet_a_calibrated_beta(family):
    """Bits are rounded down in the integer form, and the target survives that."""
    for beta in (0.1, 0.25, 0.4):
        form = bs.calibrate(family, 12, beta=beta).exact(allow_zeros=True)
        assert form.beta >= beta


def test_blocks_take_the_least_k():
    """One k less would miss the target, with sizes that differ by at most one."""
    for n in (12, 17, 100):
        for beta in (0.1, 0.35, 0.6, 0.9):
            blocks = bs.calibrate("blocks", n, beta=beta)
            k = int(blocks.sizes.min())
            assert np.ptp(blocks.sizes) <= 1
            assert blocks.beta >= beta
            looser = [bs.calibrate("blocks", n, k=j) for j in range(1, k)]
            assert all(other.beta < beta for other in looser if other.sizes.min() < k)


def test_windows_take_the_least_width():
    """One rank less would miss the target."""
    window = bs.calibrate("window", 40, beta=0.5)
    assert window.beta >= 0.5 > bs.Window(40, width=window.width - 1).beta


def test_the_strictest_of_several_targets_rules():
    """All targets at once: the same as the most private of the matrices for each alone."""
    asked = {"beta": 0.5, "epsilon": 2.5, "truth": 0.6, "deniability": 1.0}
    alone = [bs.calibrate("mixture", 12, **{name: value}) for name, value in asked.items()]
    together = bs.calibrate("mixture", 12, **asked)
    assert together.truth == pytest.approx(min(matrix.truth for matrix in alone), rel=1e-11)


def test_deniability_under_a_prior():
    """The worst report under an uneven prior is exactly as deniable as asked."""
    prior = np.array([0.7, 0.2, 0.1])
    matrix = bs.calibrate("mixture", 3, prior=prior, deniability=0.8)
    assert worst_deniability(matrix, prior) == pytest.approx(0.8, abs=1e-10)
    assert worst_deniability(bs.Mixture(3, truth=matrix.truth + 1e-6), prior) < 0.8


def test_mixture_needs_no_search_for_its_own_parameter():
    """Truth and epsilon are taken as they are."""
    assert bs.calibrate("mixture", 7, truth=0.7).truth == 0.7
    wanted = bs.randomised_response(7, epsilon=1.5).truth
    assert bs.calibrate("mixture", 7, epsilon=1.5).truth == wanted


def test_tridiagonal_stops_where_privacy_is_highest():
    """The rising branch ends at α = 0.3405914377924587 for twelve codes."""
    matrix = bs.calibrate("tridiagonal", 12, beta=0.4112897665259084)
    assert matrix.alphas[0] == pytest.approx(0.3405914377924587, abs=1e-7)
    assert bs.calibrate("tridiagonal", 12, beta=0.39).alphas[0] < 0.3405914377924587


def test_graphs_and_taxonomies_calibrate_too():
    """Any Laplacian, a taxonomy and any distances are families of one parameter."""
    laplacian = np.array([[2.0, -1, -1], [-1, 1, 0], [-1, 0, 1]])
    assert bs.calibrate("diffusion", laplacian=laplacian, beta=0.7).beta == pytest.approx(0.7)
    assert bs.calibrate("diffusion", parents=TAXONOMY, beta=0.7).beta == pytest.approx(0.7)
    distances = np.array([[0, 1, 5], [2, 0, 1], [1, 3, 0.0]])
    assert bs.calibrate("optimal", distances=distances, beta=0.7).beta == pytest.approx(0.7)


def test_a_single_category_needs_nothing():
    """With one category there is nothing to learn and nothing to hide."""
    for family in FAMILIES:
        assert bs.calibrate(family, 1, beta=1).size == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("tridiagonal", 12, {"beta": 0.5}),
            r"cannot reach beta=0\.5: its beta goes from 0 to 0\.4112",
        ),
        (("tridiagonal", 12, {"epsilon": 1}), "its epsilon goes from inf to inf"),
        (("window", 12, {"epsilon": 1}), "cannot reach epsilon=1"),
        (("mixture", 12, {"beta": 1.5}), "beta lies between 0 and 1"),
        (("mixture", 12, {"bits": 4}), "bits lies between 0 and 3.58"),
        (("mixture", 12, {"epsilon": -1}), "epsilon lies between 0 and inf"),
        (("mixture", 12, {"epsilon": math.nan}), "epsilon=nan is out of reach"),
        (("mixture", 12, {"truth": 0.01}), "truth lies between 0.0833"),
        (("mixture", 12, {"k": 13}), "k lies between 1 and 12"),
        (("mixture", 12, {"beta": "much"}), "beta must be a number"),
        (("mixture", 12, {}), "calibrate needs a target"),
        (("mixture", 3, {"prior": [0.7, 0.2, 0.1], "beta": 0.5}), "no deniability"),
        (("mixture", 3, {"prior": [0.7, 0.3], "deniability": 0.5}), "needs 3 probabilities"),
        (
            ("mixture", 3, {"prior": [0.9, 0.05, 0.05], "deniability": 1}),
            "deniability lies between 0 and 0.56",
        ),
    ],
)
def test_unreachable_targets_say_what_is_reachable(arguments, message):
    """A refusal names the target, the range and what to do."""
    family, n, targets = arguments
    with pytest.raises((bs.TargetError, bs.MatrixError), match=message):
        bs.calibrate(family, n, **targets)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bs.calibrate("gaussian", 12, beta=0.5), "No family is called 'gaussian'"),
        (lambda: bs.calibrate("mixture", 0, beta=0.5), "whole number n >= 1"),
        (lambda: bs.calibrate("mixture", beta=0.5), "whole number n >= 1"),
        (lambda: bs.calibrate("mixture", 3, beta=0.5, distances=np.eye(3)), "belong to the family"),
        (lambda: bs.calibrate("mixture", 3, beta=0.5, parents=TAXONOMY), "'diffusion', not to"),
        (lambda: bs.calibrate("optimal", 4, beta=0.5, distances=np.eye(3)), "disagrees with the 3"),
    ],
)
def test_calibration_refuses_what_does_not_fit(call, message):
    """Arguments of another family, or of another size."""
    with pytest.raises(bs.MatrixError, match=message):
        call()

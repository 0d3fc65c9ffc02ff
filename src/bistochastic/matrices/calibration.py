"""Calibration: the least intrusive member of a family that is private enough.

Every family is a branch from "report the truth" to its most private member, along which privacy
only rises. Calibration walks from the truthful end and stops at the first member that meets all
targets.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar, toms748

from bistochastic.errors import MatrixError, TargetError
from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.blocks import near_equal_blocks
from bistochastic.matrices.checks import as_size
from bistochastic.matrices.diffusion import diffusion
from bistochastic.matrices.mixture import Mixture, identity, randomised_response
from bistochastic.matrices.optimal import optimal_at
from bistochastic.matrices.targets import Target, read_targets
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = ["FAMILIES", "calibrate"]

FAMILIES = ("blocks", "diffusion", "mixture", "optimal", "tridiagonal", "window")
SCAN = 64  # members looked at where privacy need not rise all the way


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """A family from its most truthful member (position 0) to its most private one (1)."""

    name: str
    parameter: str
    value: Callable[[float], float]
    build: Callable[[float], Bistochastic]
    whole: tuple[int, int] | None = None  # the range of a whole-numbered parameter

    def at(self, position: float) -> Bistochastic:
        """The member at a position between 0 and 1."""
        return self.build(self.value(position))


def calibrate(
    family: str,
    n: int | None = None,
    *,
    beta: float | None = None,
    bits: float | None = None,
    epsilon: float | None = None,
    truth: float | None = None,
    k: float | None = None,
    deniability: float | None = None,
    prior: ArrayLike | None = None,
    distances: ArrayLike | None = None,
    laplacian: Any = None,
    parents: Mapping[Any, Any] | None = None,
    power: float = 2.0,
) -> Bistochastic:
    """The least private member of a family that meets every target given.

    Args:
        family: "mixture", "tridiagonal", "window", "blocks", "diffusion" or "optimal".
        n: The number of categories; not needed where distances, laplacian or parents say it.
        beta: At least this share of the bits possible.
        bits: At least this mean row entropy.
        epsilon: At most this local differential privacy.
        truth: At most this share of true reports.
        k: No value is guessed from its report with probability above 1/k, all being equally likely.
        deniability: At least these bits of H(X | Y = v) for every report v.
        prior: The distribution of true values for deniability; equal shares unless given.
        distances: For "optimal", any matrix of distances; else |u - v| to the power.
        laplacian: For "diffusion", any graph; else the path of n ordered codes.
        parents: For "diffusion", a taxonomy as child → parent.
        power: For "optimal" on ordered codes.

    >>> calibrate("mixture", 12, beta=0.6).truth.__round__(6)
    0.648595
    >>> calibrate("blocks", 12, beta=0.5).sizes
    array([4, 4, 4])
    """
    branch, size = _branch(family, n, distances, laplacian, parents, power)
    targets = read_targets(
        size,
        beta=beta,
        bits=bits,
        epsilon=epsilon,
        truth=truth,
        k=k,
        deniability=deniability,
        prior=prior,
    )
    if size == 1:
        return identity(1)
    if branch.name == "mixture" and epsilon is not None and len(targets) == 1:
        return randomised_response(size, epsilon=epsilon)
    if branch.name == "mixture" and truth is not None and len(targets) == 1:
        return Mixture(size, truth=max(truth, 1 / size))
    if branch.whole is not None:
        return _first_whole(branch, targets)
    return _first_member(branch, targets, scan=prior is not None)


def _branch(
    family: str,
    n: int | None,
    distances: ArrayLike | None,
    laplacian: Any,
    parents: Mapping[Any, Any] | None,
    power: float,
) -> tuple[Branch, int]:
    """The branch of a family, and the size of its matrices."""
    if family not in FAMILIES:
        raise MatrixError(f"No family is called {family!r}; there are {', '.join(FAMILIES)}.")
    _refuse_strangers(family, distances, laplacian, parents)
    if family == "optimal" and distances is not None:
        costs = np.asarray(distances)
        return _optimal(distances=costs), _agreed(n, len(costs))
    if family == "diffusion" and (laplacian is not None or parents is not None):
        size = diffusion(laplacian, parents=parents, time=0.0).size
        return _diffusion(size, laplacian=laplacian, parents=parents), _agreed(n, size)
    size = as_size(n, f'calibrate("{family}")')
    if family == "optimal":
        return _optimal(ordered=size, power=power), size
    if family == "diffusion":
        return _diffusion(size, path=size), size
    return {"mixture": _mixture, "tridiagonal": _tridiagonal, "window": _window, "blocks": _blocks}[
        family
    ](size), size


def _refuse_strangers(family: str, distances: Any, laplacian: Any, parents: Any) -> None:
    if distances is not None and family != "optimal":
        raise MatrixError(f"distances belong to the family 'optimal', not to {family!r}.")
    if (laplacian is not None or parents is not None) and family != "diffusion":
        raise MatrixError(f"A graph belongs to the family 'diffusion', not to {family!r}.")


def _agreed(n: int | None, size: int) -> int:
    if n is not None and n != size:
        raise MatrixError(f"n={n} disagrees with the {size} categories of what was given with it.")
    return size


def _mixture(n: int) -> Branch:
    return Branch(
        "mixture",
        "truth",
        lambda s: max(1 - s, 1 / n),
        lambda truth: Mixture(n, truth=truth),
    )


def _tridiagonal(n: int) -> Branch:
    """Equal alphas, up to the one of most bits: beyond it privacy falls again."""
    highest = _best_alpha(n)
    return Branch(
        "tridiagonal",
        "alpha",
        lambda s: s * highest,
        lambda alpha: Tridiagonal(np.full(n - 1, alpha)),
    )


def _best_alpha(n: int) -> float:
    """The equal alpha of most bits; it tends to 1/3 as the ends matter less."""
    if n <= 2:
        return 0.5

    def lost(alpha: float) -> float:
        ends = 2 * (_h(alpha) + _h(1 - alpha))
        return -(ends + (n - 2) * (2 * _h(alpha) + _h(1 - 2 * alpha)))

    found = minimize_scalar(lost, bounds=(0.25, 0.5), method="bounded", options={"xatol": 1e-12})
    # A flat top hides its place from a search; the slope's zero does not.
    return float(toms748(lambda a: _slope(a, n), found.x - 1e-4, found.x + 1e-4, xtol=1e-16))


def _h(p: float) -> float:
    return -p * math.log2(p) if p > 0 else 0.0


def _slope(alpha: float, n: int) -> float:
    """The derivative of n·bits of equal alphas, up to a constant factor."""
    ends = 2 * math.log((1 - alpha) / alpha)
    return ends + 2 * (n - 2) * math.log((1 - 2 * alpha) / alpha)


def _window(n: int) -> Branch:
    return Branch(
        "window", "width", lambda s: s, lambda w: Window(n, int(w)), whole=(0, _best_width(n))
    )


def _best_width(n: int) -> int:
    """The width of most bits: beyond it so much mass is missing that more stays where it was."""
    low, high = 0, max(n - 1, 0)
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        if Window(n, left).bits < Window(n, right).bits:
            low = left + 1
        else:
            high = right
    return max(range(low, high + 1), key=lambda width: Window(n, width).bits)


def _blocks(n: int) -> Branch:
    return Branch("blocks", "k", lambda s: s, lambda k: near_equal_blocks(n, int(k)), whole=(1, n))


def _diffusion(n: int, **graph: Any) -> Branch:
    """Times from 0 to one at which nothing is left to spread, on a scale that shows all between."""
    if "path" in graph:  # the slowest wave has fallen below the last digit of a double
        longest = 40 / (4 * math.sin(math.pi / (2 * n)) ** 2)
    else:
        longest = _settled(lambda time: diffusion(**graph, time=time).bits, n)
    return Branch("diffusion", "time", _stretched(longest), lambda t: diffusion(**graph, time=t))


def _optimal(**codes: Any) -> Branch:
    scale = 1.0
    if "distances" in codes:
        spread = np.asarray(codes["distances"], dtype=np.float64)
        scale = float(np.ptp(spread)) or 1.0
    size = codes.get("ordered") or len(codes["distances"])
    if "ordered" in codes:
        scale = max(float(size - 1) ** codes["power"], 1.0)
    hottest = _settled(lambda t: optimal_at(**codes, temperature=t).bits, size, start=scale)
    return Branch(
        "optimal", "temperature", _stretched(hottest), lambda t: optimal_at(**codes, temperature=t)
    )


def _settled(bits: Callable[[float], float], n: int, start: float = 1.0) -> float:
    """A parameter from which on the bits no longer rise."""
    before, parameter = -1.0, start
    for _ in range(60):
        now = bits(parameter)
        if now >= math.log2(n) * (1 - 1e-15) or (now - before < 1e-15 * max(now, 1.0) and now > 0):
            return parameter
        before, parameter = now, parameter * 8
    return parameter


def _stretched(longest: float) -> Callable[[float], float]:
    """0 … 1 → 0 … longest, equal steps being equal factors but for a last one down to 0."""
    decades = 24.0

    def value(position: float) -> float:
        if position <= 0:
            return 0.0
        return longest * 10 ** (decades * (position - 1))

    return value


def _first_whole(branch: Branch, targets: tuple[Target, ...]) -> Bistochastic:
    """The first of finitely many members that meets all targets, by bisection."""
    low, high = branch.whole or (0, 0)
    ends = branch.build(low), branch.build(high)
    _refuse_unreachable(branch, targets, *ends)

    def meets(value: int) -> bool:
        member = branch.build(value)
        return all(target.nearly(member) for target in targets)

    step = 1
    while low + step < high and not meets(low + step):  # the answer is often near the start
        step *= 2
    first, last = low + step // 2, min(low + step, high)
    if meets(low):
        return ends[0]
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if meets(middle) else (middle, last)
    return branch.build(last)


def _first_member(branch: Branch, targets: tuple[Target, ...], *, scan: bool) -> Bistochastic:
    """The first member of a continuous branch that meets all targets."""
    ends = branch.at(0.0), branch.at(1.0)
    _refuse_unreachable(branch, targets, *ends)
    position = max(_first_position(branch, target, scan=scan) for target in targets)
    step = 1e-16
    while position < 1:
        member = branch.at(position)
        if all(target.excess(member) >= 0 for target in targets):
            return member
        position, step = min(position + step, 1.0), step * 2
    return ends[1]


def _first_position(branch: Branch, target: Target, *, scan: bool) -> float:
    """Where along the branch a target is first met, to the precision of a double."""
    if target.excess(branch.at(0.0)) >= 0:
        return 0.0
    if target.excess(branch.at(1.0)) < 0:
        return 1.0  # met up to rounding only, by the last member alone
    low, high = 0.0, 1.0
    if scan:
        for position in np.linspace(0, 1, SCAN + 1)[1:]:
            if target.excess(branch.at(float(position))) >= 0:
                high = float(position)
                break
            low = float(position)
    return float(toms748(lambda s: target.excess(branch.at(s)), low, high, xtol=1e-16, rtol=1e-15))


def _refuse_unreachable(
    branch: Branch, targets: tuple[Target, ...], loosest: Bistochastic, tightest: Bistochastic
) -> None:
    for target in targets:
        if target.nearly(tightest) or target.nearly(loosest):
            continue
        start, end = target.quantity(loosest), target.quantity(tightest)
        raise TargetError(
            f"The family {branch.name!r} of size {tightest.size} cannot reach "
            f"{target.name}={target.wanted:.12g}: its {target.name} goes from {start:.12g} to "
            f"{end:.12g}. Ask for less, or choose another family."
        )

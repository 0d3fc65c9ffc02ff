r"""The assignment problem: which permutation costs least, at which prices, and which others do too.

Prices $a, b$ with $a_u + b_v \le d(u,v)$, and equality along the best permutation, prove it best.
They leave reduced costs $d(u,v) - a_u - b_v \ge 0$, whose zeros carry every best permutation.
"""

from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import (
    NegativeCycleError,
    bellman_ford,
    connected_components,
    maximum_bipartite_matching,
)

from bistochastic.errors import SupportError

__all__ = ["Assignment", "assign", "in_some_matching", "require_total_support"]

Floats = NDArray[np.float64]

TIGHT = 1e-12  # of the range of the costs: a reduced cost below this is a zero
SLACK = 2e-15  # of the range of the costs, per exchange of a chain: a few roundings
LINKS = 16  # exchanges of each row that are looked at first


@final
class Assignment(NamedTuple):
    """A least-cost permutation (`columns[u]` is what u is given) and the reduced costs of all."""

    columns: NDArray[Any]
    row_prices: Floats
    column_prices: Floats
    reduced: Floats  # (n, n), not negative; symmetric if the costs were


def assign(costs: Floats) -> Assignment:
    """Solve the assignment problem of finite costs.

    >>> assign(np.array([[4.0, 1.0], [2.0, 3.0]])).columns.tolist()
    [1, 0]
    """
    n = costs.shape[0]
    if not costs.diagonal().any() and not (costs < 0).any():
        # It is free to stay and nothing earns, so no price is needed.
        return Assignment(np.arange(n), np.zeros(n), np.zeros(n), costs)
    offset = costs.min()
    above = costs - offset  # a common offset would only cost digits
    columns = linear_sum_assignment(above)[1]
    row_prices, column_prices = prices(above, columns)
    if np.array_equal(costs, costs.T):
        # The transposed prices are as good, so their mean is; it keeps the reduced costs symmetric.
        row_prices = column_prices = (row_prices + column_prices) / 2
    reduced = above - (row_prices[:, None] + column_prices[None, :])
    reduced[reduced <= tolerance(costs)] = 0.0
    # The best permutation is tight by definition, even where prices were rounded along long chains.
    reduced[np.arange(n), columns] = 0.0
    if row_prices is column_prices:
        reduced[columns, np.arange(n)] = 0.0
    return Assignment(columns, row_prices + offset, column_prices, reduced)


def prices(costs: Floats, columns: NDArray[Any]) -> tuple[Floats, Floats]:
    """What each row and each column adds to the cost: shortest paths along exchanges.

    Giving u the column of w instead of its own costs `step[u, w]` more; a column's price is the
    least total of any chain of such exchanges that ends there. Few exchanges matter, so chains run
    over the cheapest ones first, and over those that the prices found turn out to break.
    """
    own = costs[np.arange(costs.shape[0]), columns]
    step = costs[:, columns] - own[:, None]
    # If costs are hardly more than prices, what a column costs on average nearly is its price.
    rough = step.mean(axis=0)
    rest = step + np.subtract.outer(rough, rough)
    if np.abs(rest).mean() < 0.1 * np.abs(step).mean():
        step = rest
    else:
        rough = np.zeros_like(rough)
    np.fill_diagonal(step, np.inf)
    links = cheapest(step)
    # Each exchange is made a little dearer, lest rounding turn a free cycle into a gain.
    unit = float(np.ptp(costs)) or 1.0
    slack = SLACK * unit
    while True:
        try:
            price = unit * chains((step + slack) / unit, links)
        except NegativeCycleError:
            slack *= 4
            continue
        broken = np.subtract.outer(price, price).T - step
        broken[broken <= 2 * slack] = -np.inf
        if np.isneginf(broken).all():
            break
        links |= cheapest(-broken)
    price += rough
    column_prices = np.empty_like(price)
    column_prices[columns] = price
    return own - price, column_prices


def cheapest(step: Floats) -> NDArray[np.bool_]:
    """The few least finite entries of each row."""
    links = np.isfinite(step)
    if step.shape[0] > LINKS:
        least = np.argpartition(step, LINKS, axis=1)[:, :LINKS]
        chosen = np.zeros_like(links)
        np.put_along_axis(chosen, least, True, axis=1)
        links &= chosen
    return links


def chains(step: Floats, links: NDArray[np.bool_]) -> Floats:
    """The least total of a chain of linked exchanges to each end, from any beginning.

    The search tells apart what differs by more than 1e-15, so steps must be of size one.
    """
    n = step.shape[0]
    rows, ends = np.nonzero(links)
    # One more node, the beginning of all chains, is linked to every other at the price of one.
    graph = csr_array(
        (
            np.concatenate((step[links], np.ones(n))),
            (np.concatenate((rows, np.full(n, n))), np.concatenate((ends, np.arange(n)))),
        ),
        shape=(n + 1, n + 1),
    )
    totals: Floats = bellman_ford(graph, directed=True, indices=n)[:n]
    return totals - 1


def tolerance(costs: Floats) -> float:
    """The reduced cost that cannot be told from zero in floating point."""
    largest = float(np.abs(costs).max())
    return TIGHT * float(np.ptp(costs)) + 8 * float(np.finfo(np.float64).eps) * largest


def in_some_matching(support: NDArray[np.bool_], columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells of a support lie in some perfect matching, given one of them.

    A cell outside the known matching is in another one iff it closes a cycle of exchanges, which
    is to say iff its two ends are strongly connected.

    >>> in_some_matching(np.array([[True, True], [False, True]]), np.array([0, 1])).tolist()
    [[True, False], [False, True]]
    """
    exchanges = csr_array(support[:, columns])
    part = connected_components(exchanges, directed=True, connection="strong")[1]
    column_part = np.empty_like(part)
    column_part[columns] = part
    kept: NDArray[np.bool_] = support & (part[:, None] == column_part[None, :])
    return kept


def require_total_support(support: NDArray[np.bool_]) -> None:
    """Refuse a support that no bistochastic matrix has."""
    for axis, line in ((1, "Row"), (0, "Column")):
        empty = ~support.any(axis=axis)
        if empty.any():
            raise SupportError(
                f"{line} {int(np.argmax(empty))} holds only zeros; every row and column needs a "
                f"positive entry to be scaled to sum one."
            )
    columns = maximum_bipartite_matching(csr_array(support), perm_type="column")
    if (columns < 0).any():
        raise SupportError(
            f"The positive entries allow no perfect matching: only {int((columns >= 0).sum())} of "
            f"{columns.size} rows find a column of their own. Make more entries positive."
        )
    stray = support & ~in_some_matching(support, columns)
    if stray.any():
        row, column = np.unravel_index(int(np.argmax(stray)), stray.shape)
        raise SupportError(
            f"{int(stray.sum())} positive entries lie in no perfect matching, the first at row "
            f"{row}, column {column}, so no bistochastic scaling exists. Set them to zero, or make "
            f"more entries positive."
        )

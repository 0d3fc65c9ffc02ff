r"""Controlled rounding: probabilities to integers with exact margins, and zeros that stay zero.

With $N = 2^w$, each entry $N p$ goes to an integer next to it such that every row, and for a
bistochastic array every column, sums to exactly $N$; such integers exist because transportation
problems with whole margins have whole solutions (Bacharach 1966; Cox and Ernst 1982). A double
holds a probability to 53 bits only, so at 64 bits the margins of the input itself are off by
hundreds or thousands of units. That defect is spread first, in proportion to the entries.
"""

import numpy as np
import numpy.typing as npt
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import connected_components

from bistochastic.errors import ExactnessError, MatrixError, NotBistochasticError, SupportError
from bistochastic.matrices.alias import sums_to_unit

__all__ = ["round_bistochastic", "round_stochastic", "round_vector", "vanished"]

Floats = npt.NDArray[np.float64]
Units = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Sure = npt.NDArray[np.int64]

TOLERANCE = 1e-9  # the largest defect of a margin that is taken for rounding error
NEGLIGIBLE = 0.5  # total defect in units that a choice between floor and ceiling absorbs
REFINEMENTS = 8  # of a solution that is nearly always good enough at once
WIDEST = 61  # the widest move tried is two to this power


def round_bistochastic(array: npt.ArrayLike, *, word_bits: int = 64) -> tuple[Words, Sure]:
    r"""Integers near $N P$ with every row and column summing to exactly $N$, and the sure columns.

    At word sizes where the defect of the input adds up to less than half a unit, every entry $M$
    obeys $|M - N p| < 1$. Otherwise $|M - A| < 1$, where $A$ has exact margins and differs from
    $N P$ by about the defect of the input (1e-16 of $N$, some thousand units at 64 bits), in
    proportion to $p$. Only where the defect must pass through entries as small as itself do cells
    move further. A row that rounds to a single entry $N$ has weights 0 and its column in `sure`,
    which is -1 elsewhere.

    >>> weights, sure = round_bistochastic(np.full((3, 3), 1 / 3), word_bits=8)
    >>> weights.sum(axis=0).tolist(), weights.sum(axis=1).tolist(), sure.tolist()
    ([256, 256, 256], [256, 256, 256], [-1, -1, -1])
    """
    p = _without_forced(_checked(array, word_bits, axes=(0, 1)))
    base, part = _split(p, word_bits)
    rows = _missing(base, word_bits, axis=1) - part.sum(axis=1)
    columns = _missing(base, word_bits, axis=0) - part.sum(axis=0)
    if np.abs(rows).sum() + np.abs(columns).sum() >= NEGLIGIBLE:
        base, part = _shift(base, part, _spread(p, rows, columns, word_bits))
    moves = _fill(p, part, _missing(base, word_bits, axis=1))
    short = _missing(base, word_bits, axis=0) - moves.sum(axis=0)
    _repair(moves, short, base, part > 0)
    return _finish(p, base + moves.view(np.uint64), word_bits, axes=(0, 1))


def round_stochastic(array: npt.ArrayLike, *, word_bits: int = 64) -> tuple[Words, Sure]:
    """Integers near each row with every row summing to exactly N, by largest remainders.

    The same promises as `round_bistochastic`, for rows only.

    >>> weights, sure = round_stochastic([[0.5, 0.3, 0.2], [0, 1, 0]], word_bits=8)
    >>> weights.tolist(), sure.tolist()
    ([[128, 77, 51], [0, 0, 0]], [-1, 1])
    """
    p = _checked(array, word_bits, axes=(1,))
    base, part = _split(p, word_bits)
    lack = _missing(base, word_bits, axis=1) - part.sum(axis=1)
    lack[np.abs(lack) < NEGLIGIBLE] = 0.0
    base, part = _shift(base, part, p * (lack / p.sum(axis=1))[:, np.newaxis])
    units = _missing(base, word_bits, axis=1)
    for row in range(len(p)):
        one = slice(row, row + 1)
        base[one] += _fill(p[one], part[one], units[one]).view(np.uint64)
    return _finish(p, base, word_bits, axes=(1,))


def round_vector(p: npt.ArrayLike, *, word_bits: int = 64) -> tuple[Words, int]:
    """Integers near one distribution that sum to exactly N, by largest remainders.

    >>> weights, sure = round_vector([0.5, 0.3, 0.2], word_bits=8)
    >>> weights.tolist(), sure
    ([128, 77, 51], -1)
    """
    row = np.asarray(p, np.float64)
    if row.ndim != 1:
        raise MatrixError(f"round_vector needs one distribution (n,); got shape {row.shape}.")
    weights, sure = round_stochastic(row[np.newaxis], word_bits=word_bits)
    return weights[0], int(sure[0])


def vanished(array: npt.ArrayLike, weights: Words, sure: npt.ArrayLike) -> int:
    """How many positive probabilities became 0 because a unit is too large for them.

    >>> vanished([0.999, 0.001], *round_vector([0.999, 0.001], word_bits=8))
    1
    """
    columns = np.arange(np.shape(weights)[-1])
    kept = (weights > 0) | (columns == np.asarray(sure)[..., np.newaxis])
    return int(np.count_nonzero((np.asarray(array) > 0) & ~kept))


def _checked(array: npt.ArrayLike, word_bits: int, axes: tuple[int, ...]) -> Floats:
    p = np.asarray(array, np.float64)
    if p.ndim != 2 or not p.size or (axes == (0, 1) and p.shape[0] != p.shape[1]):
        raise MatrixError(f"Rounding needs a matrix, not empty; got an array of shape {p.shape}.")
    if not 8 <= word_bits <= 64 or p.shape[1] > 1 << (word_bits - 1):
        raise MatrixError(
            f"Rounding needs word_bits from 8 to 64 and at most half of 2**word_bits columns; "
            f"got word_bits={word_bits} for {p.shape[1]} columns."
        )
    if not np.isfinite(p).all() or p.min() < 0:
        raise MatrixError("Rounding needs finite entries of at least 0; some are not.")
    for axis in axes:
        defect = float(np.abs(p.sum(axis=axis) - 1).max())
        if defect > TOLERANCE:
            raise NotBistochasticError(
                f"Rounding needs {'columns' if axis == 0 else 'rows'} that sum to 1 within "
                f"{TOLERANCE}; one is off by {defect:.3g}. Balance the array first."
            )
    return p


def _without_forced(p: Floats) -> Floats:
    """The array without entries that share a line with the only entry of another line.

    Such an entry is 0 in every exactly bistochastic array on this support.
    """
    while True:
        support = p > 0
        lone = support & (
            (support.sum(axis=1, keepdims=True) == 1) | (support.sum(axis=0, keepdims=True) == 1)
        )
        in_line = lone.any(axis=1, keepdims=True) | lone.any(axis=0, keepdims=True)
        if not (support & in_line & ~lone).any():
            return p
        p = np.where(in_line & ~lone, 0.0, p)


def _split(p: Floats, word_bits: int) -> tuple[Words, Floats]:
    """The floor of N p and what is left of it, both exact: shifts of the 53-bit significand."""
    fraction, exponent = np.frexp(p)
    significand = np.ldexp(fraction, 53).astype(np.uint64)
    shift = exponent.astype(np.int64) + (word_bits - 53)
    left = np.clip(shift, 0, 63).astype(np.uint64)
    right = np.clip(-shift, 0, 63).astype(np.uint64)
    # A shift by 63 already clears 53 bits; left shifts may wrap at N, which modulo 2**64 is right.
    base = (significand << left) >> right
    rest = (significand & ((np.uint64(1) << right) - np.uint64(1))).astype(np.float64)
    return base, np.ldexp(rest, np.minimum(shift, 0).astype(np.int32))


def _missing(base: Words, word_bits: int, axis: int) -> Units:
    """What each line lacks of N: exact modulo two to the 64, so exact as it is far smaller."""
    unit = np.uint64((1 << word_bits) % (1 << 64))
    return np.asarray(unit - base.sum(axis=axis, dtype=np.uint64)).view(np.int64)


def _shift(base: Words, part: Floats, change: Floats) -> tuple[Words, Floats]:
    """The sum of base, part and change, again as whole units and a part below one."""
    total = part + change
    whole = np.floor(total)
    return base + whole.astype(np.int64).view(np.uint64), total - whole


def _spread(p: Floats, rows: Floats, columns: Floats, word_bits: int) -> Floats:
    r"""The change $a_i p_{ij} + p_{ij} b_j$ whose row and column sums are the given defects.

    Eliminating b leaves $(I - P P^\top) a = r - P c$, a graph Laplacian. Its diagonal is summed
    from the other entries, without cancellation, and raised by a few times their rounding error,
    so that it has an inverse whatever components P has. Refinement undoes what the raise did.
    """
    laplacian = -(p @ p.T)
    np.fill_diagonal(laplacian, 0.0)
    diagonal = -laplacian.sum(axis=1) * (1 + len(p) * 1e-14)
    np.fill_diagonal(laplacian, np.where(diagonal > 0, diagonal, 1.0))
    component = connected_components(laplacian)[1]
    factor = lu_factor(laplacian, overwrite_a=True)
    change = np.zeros_like(p)
    least = -0.5 * np.ldexp(p, word_bits)  # never half of an entry, so none becomes negative
    defect = np.inf
    for _ in range(REFINEMENTS):
        r, c = rows - change.sum(axis=1), columns - change.sum(axis=0)
        if not NEGLIGIBLE <= np.abs(r).sum() + np.abs(c).sum() < defect:
            break
        defect = np.abs(r).sum() + np.abs(c).sum()
        a = lu_solve(factor, r - p @ c)
        # A constant per component cancels against b, but a large one would cost digits.
        a = _coarse(a - (np.bincount(component, a) / np.bincount(component))[component])
        b = _coarse(c - p.T @ a)
        change = np.maximum(change + p * (a[:, np.newaxis] + b), least)
    return change


def _coarse(values: Floats) -> Floats:
    """Values cut to 36 bits, so that the order in which a BLAS sums hardly ever shows."""
    grid = np.frexp(np.abs(values).max())[1] - 36
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, -grid)), grid))


def _largest(score: Floats, count: int) -> Units:
    """Positions of the largest scores; of equal ones the first, on every machine."""
    if count <= 0:
        return np.zeros(0, np.int64)
    last = np.partition(score, -count)[-count]
    above = np.flatnonzero(score > last)
    return np.concatenate([above, np.flatnonzero(score == last)[: count - above.size]])


def _fill(p: Floats, part: Floats, rows: Units) -> Units:
    """Moves of 0 or 1 that complete every row, choosing large parts in columns left behind.

    What a column got too little of is carried to the next row, so that few columns end up wrong.
    """
    moves = np.zeros(p.shape, np.int64)
    behind = np.zeros(p.shape[1])
    for row, units in enumerate(rows.tolist()):
        open_cells = np.flatnonzero(part[row])
        count = min(max(units, 0), open_cells.size)
        score = (part[row] + behind)[open_cells]
        moves[row, open_cells[_largest(score, count)]] = 1
        if count != units:  # rare: the largest entry takes what floor and ceiling cannot
            moves[row, p[row].argmax()] += units - count
        behind += part[row] - moves[row]
    return moves


def _repair(moves: Units, short: Units, base: Words, open_cells: Mask) -> None:
    """Exchange units within rows, in place, until no column is short.

    First every cell stays at its floor or ceiling. If the columns cannot be met so, cells may
    move by 1, 2, 4 and so on, and only the last attempt may take the last unit of a cell.
    """
    _exchange(moves, short, open_cells & (moves == 0), open_cells & (moves == 1))
    for width in range(WIDEST + 1):
        if not short.any():
            return
        usable = open_cells | (base > 0)
        kept = 1 if width < WIDEST else 0
        stock = np.minimum(base, np.uint64(1 << WIDEST)).astype(np.int64) + moves - kept
        spare = np.where(usable, np.minimum(stock, (1 << width) + moves), 0)
        _exchange(moves, short, np.where(usable, (1 << width) - moves, 0), spare)
    if short.any():
        raise SupportError(
            f"No bistochastic array has its zeros here: {np.count_nonzero(short)} columns cannot "
            f"be balanced. Use entries whose support carries permutations through each of them."
        )


def _exchange(moves: Units, short: Units, room: Units | Mask, spare: Units | Mask) -> None:
    """Move units from columns with too many to short ones along alternating paths, in place."""
    room, spare = room.astype(np.int64), spare.astype(np.int64)
    up, down = room > 0, spare > 0
    for column in np.flatnonzero(short > 0).tolist():
        while short[column] > 0:
            path = _path(column, short < 0, up, down)
            if path is None:
                break
            rows, raised, lowered = path
            units = min(
                short[column],
                -short[lowered[0]],
                room[rows, raised].min(),
                spare[rows, lowered].min(),
            )
            for cells, sign in (((rows, raised), 1), ((rows, lowered), -1)):
                moves[cells] += sign * units
                room[cells] -= sign * units
                spare[cells] += sign * units
                up[cells], down[cells] = room[cells] > 0, spare[cells] > 0
            short[column] -= units
            short[lowered[0]] += units


def _path(
    start: int, ends: Mask, up: Mask, down: Mask
) -> tuple[list[int], list[int], list[int]] | None:
    """The shortest path from a column: in each of its rows one cell rises and another sinks.

    Returns the rows and their raised and lowered columns, the end of the path first.
    """
    row_from = np.full(up.shape[0], -1)
    column_from = np.full(up.shape[1], -1)
    column_from[start] = -2  # seen, from nowhere
    frontier = np.array([start])
    while frontier.size:
        rows = np.flatnonzero(row_from < 0)
        cells = up[np.ix_(rows, frontier)]
        reached = cells.any(axis=1)
        rows = rows[reached]
        row_from[rows] = frontier[cells[reached].argmax(axis=1)]
        columns = np.flatnonzero(column_from == -1)
        cells = down[np.ix_(rows, columns)]
        reached = cells.any(axis=0)
        frontier = columns[reached]
        if not frontier.size:
            return None
        column_from[frontier] = rows[cells[:, reached].argmax(axis=0)]
        found = frontier[ends[frontier]]
        if found.size:
            passed: list[int] = []
            visited = [int(found[0])]
            while visited[-1] != start:
                passed.append(int(column_from[visited[-1]]))
                visited.append(int(row_from[passed[-1]]))
            return passed, visited[1:], visited[:-1]
    return None


def _finish(p: Floats, weights: Words, word_bits: int, axes: tuple[int, ...]) -> tuple[Words, Sure]:
    """Put entries of N aside as sure columns, and check everything that was promised."""
    # An entry near N that is 0 modulo two to the 64 is N itself.
    sure_cells = (weights == np.uint64((1 << word_bits) % (1 << 64))) & (p > 0.5)
    weights[sure_cells] = 0
    exact = not weights[p == 0].any()
    for axis in axes:
        full, empty = sums_to_unit(weights, word_bits, axis=axis), ~weights.any(axis=axis)
        exact &= bool(np.where(sure_cells.any(axis=axis), empty, full).all())
    if not exact:
        raise ExactnessError(
            f"Rounding {p.shape[0]} x {p.shape[1]} entries to 2**{word_bits} left a margin or a "
            f"zero inexact. This is a defect of the package; please report the array."
        )
    return weights, np.where(sure_cells.any(axis=1), sure_cells.argmax(axis=1), -1)

"""Problems that the laws of the trade-off are held against."""

import numpy as np
from hypothesis import strategies as st

import bistochastic as bs

GRID = np.linspace(-3, 3, 31)
GOLDEN = (  # λ, and the least D + λR, certified to 3e-8
    (0.71606648199446, 0.645609810),
    (1.21606648199446, 0.850127705),
    (1.71606648199446, 0.948926280),
)


def gaussian(points=31, reach=3.0, correlation=0.95, **options):
    """Two correlated normal variables on a grid, squared distance."""
    grid = np.linspace(-reach, reach, points)
    table = bs.discretised(bs.gaussian_density(correlation), grid, grid)
    return bs.tradeoff(table, bs.squared(grid), **options)


@st.composite
def problems(draw, most=6):
    """Any table of counts, zeros among them, and any distortion, as many reports as values."""
    w, x, reports = (draw(st.integers(1, most)) for _ in range(3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    sparsity = draw(st.sampled_from([0.0, 0.4, 0.8]))
    table = generator.integers(1, 50, (w, x)) * (generator.random((w, x)) >= sparsity)
    table[generator.integers(w), generator.integers(x)] += 1
    scale = draw(st.sampled_from([1e-3, 1.0, 1e5]))
    costs = generator.random((x, reports)) * scale
    if draw(st.booleans()):
        costs = np.round(costs / scale * 3) * scale  # ties
    return table, costs


def some_channel(shape, seed):
    """Any channel of this shape."""
    rows = np.random.default_rng(seed).random(shape) ** 3
    return rows / rows.sum(axis=1, keepdims=True)

"""The dense twin of a table's channel: its axes multiplied out, and the inverse of that."""

from functools import reduce

import numpy as np
from scipy.linalg import block_diag


def dense(axes):
    """The channel of a whole table, a row for each true cell."""
    return reduce(np.kron, map(whole, axes))


def whole(axis):
    """The channel of an axis with the codes that pass beside it."""
    own = axis.channel.to_dense()
    return block_diag(own, np.eye(axis.kept)) if axis.kept else own


def inverse(axes):
    """Q, which estimates from what was reported."""
    return np.linalg.inv(dense(axes).T)

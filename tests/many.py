"""Words for many test columns, as a function of what is asked for alone."""

import numpy as np


class Many:
    """Words for test columns: a function of place, draw, attempt and column alone."""

    def __init__(self, column: int, bits: int = 64, size: int = 64) -> None:
        self.column, self.bits, self.size = column, bits, size

    def __call__(self, draw, attempt, cells):
        seed = np.random.SeedSequence([self.column, draw, attempt])
        words = np.random.Generator(np.random.PCG64(seed)).integers(
            0, 2**64, self.size, dtype=np.uint64
        )
        words = words >> np.uint64(64 - self.bits)
        return words if cells is None else words[cells]

"""Print every benchmark as a table: `python -m benchmarks`."""

import platform

import numpy as np
import scipy
from rich.console import Console

from benchmarks import masking, matrices, microaggregation, numeric, permutation, protect


def main() -> None:
    """Run all benchmarks and say on what."""
    console = Console()
    console.print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"{platform.processor() or platform.machine()}; every time is the best of its runs.\n",
        style="dim",
    )
    for room in (matrices, masking, numeric, microaggregation, permutation, protect):
        for table in room.tables():
            console.print(table)
            console.print()


main()

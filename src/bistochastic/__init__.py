"""Release confidential tables safely, with the privacy paid for in bits."""

from bistochastic.errors import (
    BistochasticError,
    ExactnessError,
    MaskingError,
    MatrixError,
    NotBistochasticError,
    SingularMatrixError,
    SupportError,
    TargetError,
    TooLargeError,
)
from bistochastic.matrices.base import Bistochastic, Channel, Truthfulness
from bistochastic.matrices.birkhoff import Birkhoff, decompose
from bistochastic.matrices.blocks import Blocks, secrecy
from bistochastic.matrices.bounds import AtLeast, AtMost
from bistochastic.matrices.calibration import calibrate
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.combination import Combination
from bistochastic.matrices.composition import Composed
from bistochastic.matrices.dense import Dense, sinkhorn, transfer
from bistochastic.matrices.diffusion import diffusion
from bistochastic.matrices.ergodic import Ergodic
from bistochastic.matrices.exact import Certificate, Exact
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.matrices.majorization import majorizes
from bistochastic.matrices.mixture import Mixture, identity, randomised_response
from bistochastic.matrices.optimal import Ordered, distortion, optimal
from bistochastic.matrices.permutation import Permutation
from bistochastic.matrices.reflected import Reflected
from bistochastic.matrices.stochastic import Stochastic, invariant
from bistochastic.matrices.taxonomy import Taxonomy
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = [
    "AtLeast",
    "AtMost",
    "Birkhoff",
    "Bistochastic",
    "BistochasticError",
    "Blocks",
    "Certificate",
    "Channel",
    "Circulant",
    "Combination",
    "Composed",
    "Dense",
    "Ergodic",
    "Exact",
    "ExactnessError",
    "Kronecker",
    "MaskingError",
    "MatrixError",
    "Mixture",
    "NotBistochasticError",
    "Ordered",
    "Permutation",
    "Reflected",
    "SingularMatrixError",
    "Stochastic",
    "SupportError",
    "TargetError",
    "Taxonomy",
    "TooLargeError",
    "Tridiagonal",
    "Truthfulness",
    "Window",
    "calibrate",
    "decompose",
    "diffusion",
    "distortion",
    "identity",
    "invariant",
    "majorizes",
    "optimal",
    "randomised_response",
    "secrecy",
    "sinkhorn",
    "transfer",
]

__version__ = "0.1.0"

"""Release confidential tables safely, with the privacy paid for in bits."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bistochastic.errors import (
        BistochasticError,
        DomainError,
        EntropyError,
        ExactnessError,
        KeyFileError,
        KeystreamError,
        MaskingError,
        MatrixError,
        NotBistochasticError,
        PlanError,
        ReleaseError,
        SecretError,
        SingularMatrixError,
        SupportError,
        TableError,
        TargetError,
        TooLargeError,
    )
    from bistochastic.inspection import inspect
    from bistochastic.keystream import Key
    from bistochastic.manifest import Explanation, Guarantee, Manifest
    from bistochastic.masking.anatomy import Anatomy, anatomy
    from bistochastic.masking.averaging import AveragingReport, averaging_report
    from bistochastic.masking.diversity import diverse_classes
    from bistochastic.masking.grouping import Grouping
    from bistochastic.masking.joint import fold, unfold
    from bistochastic.masking.microaggregation import microaggregate
    from bistochastic.masking.noise import Perturbation, gaussian_noise, perturbation
    from bistochastic.masking.numeric import (
        Uncertainty,
        average,
        draw,
        permute,
        sources,
        uncertainty,
    )
    from bistochastic.masking.randomise import Randomiser, randomise
    from bistochastic.matrices.base import Bistochastic, Channel, Truthfulness
    from bistochastic.matrices.birkhoff import Birkhoff, decompose
    from bistochastic.matrices.blocks import Blocks, secrecy
    from bistochastic.matrices.bounds import AtLeast, AtMost
    from bistochastic.matrices.calibration import calibrate
    from bistochastic.matrices.circulant import Circulant
    from bistochastic.matrices.closed import described, rebuilt
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
    from bistochastic.plan.plan import Plan
    from bistochastic.planes import Plane, plane
    from bistochastic.release import Release
    from bistochastic.rivals import rivals
    from bistochastic.run import protect
    from bistochastic.scope import Scope, domain_digest
    from bistochastic.tradeoff.bounds import Bounds
    from bistochastic.tradeoff.closeness import Closeness
    from bistochastic.tradeoff.curve import TradeoffCurve
    from bistochastic.tradeoff.density import discretised, gaussian_density
    from bistochastic.tradeoff.distortions import hamming, squared, taxonomic, weighted
    from bistochastic.tradeoff.filling import water_filling
    from bistochastic.tradeoff.function import Tradeoff, tradeoff
    from bistochastic.tradeoff.information import InformationEstimate, estimated_information
    from bistochastic.tradeoff.placed import Placed
    from bistochastic.tradeoff.point import TradeoffPoint
    from bistochastic.tradeoff.quadratic import (
        GaussianChannel,
        QuadraticGaussian,
        quadratic_gaussian,
    )
    from bistochastic.verify import Check, verify

__all__ = [
    "Anatomy",
    "AtLeast",
    "AtMost",
    "AveragingReport",
    "Birkhoff",
    "Bistochastic",
    "BistochasticError",
    "Blocks",
    "Bounds",
    "Certificate",
    "Channel",
    "Check",
    "Circulant",
    "Closeness",
    "Combination",
    "Composed",
    "Dense",
    "DomainError",
    "EntropyError",
    "Ergodic",
    "Exact",
    "ExactnessError",
    "Explanation",
    "GaussianChannel",
    "Grouping",
    "Guarantee",
    "InformationEstimate",
    "Key",
    "KeyFileError",
    "KeystreamError",
    "Kronecker",
    "Manifest",
    "MaskingError",
    "MatrixError",
    "Mixture",
    "NotBistochasticError",
    "Ordered",
    "Permutation",
    "Perturbation",
    "Placed",
    "Plan",
    "PlanError",
    "Plane",
    "QuadraticGaussian",
    "Randomiser",
    "Reflected",
    "Release",
    "ReleaseError",
    "Scope",
    "SecretError",
    "SingularMatrixError",
    "Stochastic",
    "SupportError",
    "TableError",
    "TargetError",
    "Taxonomy",
    "TooLargeError",
    "Tradeoff",
    "TradeoffCurve",
    "TradeoffPoint",
    "Tridiagonal",
    "Truthfulness",
    "Uncertainty",
    "Window",
    "anatomy",
    "average",
    "averaging_report",
    "calibrate",
    "decompose",
    "described",
    "diffusion",
    "discretised",
    "distortion",
    "diverse_classes",
    "domain_digest",
    "draw",
    "estimated_information",
    "fold",
    "gaussian_density",
    "gaussian_noise",
    "hamming",
    "identity",
    "inspect",
    "invariant",
    "majorizes",
    "microaggregate",
    "optimal",
    "permute",
    "perturbation",
    "plane",
    "protect",
    "quadratic_gaussian",
    "randomise",
    "randomised_response",
    "rebuilt",
    "rivals",
    "secrecy",
    "sinkhorn",
    "sources",
    "squared",
    "taxonomic",
    "tradeoff",
    "transfer",
    "uncertainty",
    "unfold",
    "verify",
    "water_filling",
    "weighted",
]

__version__ = "0.1.0"

# Where each name lives: it is imported when it is first asked for, so that who needs the algebra
# alone does not wait for tables, and a command not for what it does not use.
_HOMES = {
    "errors": (
        "BistochasticError DomainError EntropyError ExactnessError KeyFileError "
        "KeystreamError MaskingError MatrixError NotBistochasticError PlanError "
        "ReleaseError SecretError SingularMatrixError SupportError TableError TargetError "
        "TooLargeError"
    ),
    "inspection": "inspect",
    "keystream": "Key",
    "manifest": "Explanation Guarantee Manifest",
    "masking.anatomy": "Anatomy anatomy",
    "masking.averaging": "AveragingReport averaging_report",
    "masking.diversity": "diverse_classes",
    "masking.grouping": "Grouping",
    "masking.joint": "fold unfold",
    "masking.microaggregation": "microaggregate",
    "masking.noise": "Perturbation gaussian_noise perturbation",
    "masking.numeric": "Uncertainty average draw permute sources uncertainty",
    "masking.randomise": "Randomiser randomise",
    "matrices.base": "Bistochastic Channel Truthfulness",
    "matrices.birkhoff": "Birkhoff decompose",
    "matrices.blocks": "Blocks secrecy",
    "matrices.bounds": "AtLeast AtMost",
    "matrices.calibration": "calibrate",
    "matrices.circulant": "Circulant",
    "matrices.closed": "described rebuilt",
    "matrices.combination": "Combination",
    "matrices.composition": "Composed",
    "matrices.dense": "Dense sinkhorn transfer",
    "matrices.diffusion": "diffusion",
    "matrices.ergodic": "Ergodic",
    "matrices.exact": "Certificate Exact",
    "matrices.kronecker": "Kronecker",
    "matrices.majorization": "majorizes",
    "matrices.mixture": "Mixture identity randomised_response",
    "matrices.optimal": "Ordered distortion optimal",
    "matrices.permutation": "Permutation",
    "matrices.reflected": "Reflected",
    "matrices.stochastic": "Stochastic invariant",
    "matrices.taxonomy": "Taxonomy",
    "matrices.tridiagonal": "Tridiagonal",
    "matrices.window": "Window",
    "plan.plan": "Plan",
    "planes": "Plane plane",
    "release": "Release",
    "rivals": "rivals",
    "run": "protect",
    "scope": "Scope domain_digest",
    "tradeoff.bounds": "Bounds",
    "tradeoff.closeness": "Closeness",
    "tradeoff.curve": "TradeoffCurve",
    "tradeoff.density": "discretised gaussian_density",
    "tradeoff.distortions": "hamming squared taxonomic weighted",
    "tradeoff.filling": "water_filling",
    "tradeoff.function": "Tradeoff tradeoff",
    "tradeoff.information": "InformationEstimate estimated_information",
    "tradeoff.placed": "Placed",
    "tradeoff.point": "TradeoffPoint",
    "tradeoff.quadratic": "GaussianChannel QuadraticGaussian quadratic_gaussian",
    "verify": "Check verify",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bistochastic' has no attribute {name!r}")
    found = getattr(import_module(f"bistochastic.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Facade(ModuleType):
    """Keeps a name for what it says here, though a room of the house may be called the same."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade

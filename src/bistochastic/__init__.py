"""Release confidential tables safely, with the privacy paid for in bits."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bistochastic.analyst.contingency import Contingency, contingency, estimate
    from bistochastic.analyst.regressions import regress
    from bistochastic.analyst.summaries import within
    from bistochastic.displacing import Displaced, displace, displace_together
    from bistochastic.errors import (
        BistochasticError,
        DomainError,
        EntropyError,
        ExactnessError,
        KeyFileError,
        KeystreamError,
        MaskingError,
        MatrixError,
        MeasureError,
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
    from bistochastic.estimate.comparison import Estimated
    from bistochastic.estimate.independence import Independence
    from bistochastic.frontier.planes import Plane, plane
    from bistochastic.frontier.rivals import rivals
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
    from bistochastic.measures.attributes import Attribute
    from bistochastic.measures.chance import random_distances, random_relative_distances
    from bistochastic.measures.closeness import Anonymity, Closeness, anonymity, closeness
    from bistochastic.measures.closeness_bounds import (
        ClusterDeniability,
        closeness_epsilon,
        cluster_deniability,
        epsilon_closeness,
    )
    from bistochastic.measures.design import design_effect, sample_size
    from bistochastic.measures.disclosure import Disclosure, Posterior, disclosure
    from bistochastic.measures.dominance import Dominance, dominance, dominates
    from bistochastic.measures.figures import Figure
    from bistochastic.measures.histogram import Histogram
    from bistochastic.measures.information import Information
    from bistochastic.measures.likelihood import Through, likelihood_linkage
    from bistochastic.measures.linkage import Linkage, linkage
    from bistochastic.measures.nominal import changed, marginality
    from bistochastic.measures.permutation import (
        Displacement,
        displacement,
        file_information_loss,
        file_protection,
        information_loss,
        relative_distances,
    )
    from bistochastic.measures.permuted import (
        PermutedColumn,
        own_privacy,
        permuted_privacy,
        records_failing,
    )
    from bistochastic.measures.preference import Preference, preference
    from bistochastic.measures.propensity import Propensity, propensity
    from bistochastic.measures.utility import Compared, column_utility, pair_utility
    from bistochastic.measures.worst import EpsilonBound, WorstCase, worst_case
    from bistochastic.plan.plan import Plan
    from bistochastic.referee.comparison import Comparison, compare
    from bistochastic.referee.evaluation import Evaluation, evaluate
    from bistochastic.referee.frequencies import Frequencies, frequencies
    from bistochastic.release import Release
    from bistochastic.run import protect
    from bistochastic.scope import Scope, domain_digest
    from bistochastic.telling import report
    from bistochastic.tradeoff.bounds import Bounds
    from bistochastic.tradeoff.closeness import Leakage
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
    "Anonymity",
    "AtLeast",
    "AtMost",
    "Attribute",
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
    "ClusterDeniability",
    "Combination",
    "Compared",
    "Comparison",
    "Composed",
    "Contingency",
    "Dense",
    "Disclosure",
    "Displaced",
    "Displacement",
    "DomainError",
    "Dominance",
    "EntropyError",
    "EpsilonBound",
    "Ergodic",
    "Estimated",
    "Evaluation",
    "Exact",
    "ExactnessError",
    "Explanation",
    "Figure",
    "Frequencies",
    "GaussianChannel",
    "Grouping",
    "Guarantee",
    "Histogram",
    "Independence",
    "Information",
    "InformationEstimate",
    "Key",
    "KeyFileError",
    "KeystreamError",
    "Kronecker",
    "Leakage",
    "Linkage",
    "Manifest",
    "MaskingError",
    "MatrixError",
    "MeasureError",
    "Mixture",
    "NotBistochasticError",
    "Ordered",
    "Permutation",
    "PermutedColumn",
    "Perturbation",
    "Placed",
    "Plan",
    "PlanError",
    "Plane",
    "Posterior",
    "Preference",
    "Propensity",
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
    "Through",
    "TooLargeError",
    "Tradeoff",
    "TradeoffCurve",
    "TradeoffPoint",
    "Tridiagonal",
    "Truthfulness",
    "Uncertainty",
    "Window",
    "WorstCase",
    "anatomy",
    "anonymity",
    "average",
    "averaging_report",
    "calibrate",
    "changed",
    "closeness",
    "closeness_epsilon",
    "cluster_deniability",
    "column_utility",
    "compare",
    "contingency",
    "decompose",
    "described",
    "design_effect",
    "diffusion",
    "disclosure",
    "discretised",
    "displace",
    "displace_together",
    "displacement",
    "distortion",
    "diverse_classes",
    "domain_digest",
    "dominance",
    "dominates",
    "draw",
    "epsilon_closeness",
    "estimate",
    "estimated_information",
    "evaluate",
    "file_information_loss",
    "file_protection",
    "fold",
    "frequencies",
    "gaussian_density",
    "gaussian_noise",
    "hamming",
    "identity",
    "information_loss",
    "inspect",
    "invariant",
    "likelihood_linkage",
    "linkage",
    "majorizes",
    "marginality",
    "microaggregate",
    "optimal",
    "own_privacy",
    "pair_utility",
    "permute",
    "permuted_privacy",
    "perturbation",
    "plane",
    "preference",
    "propensity",
    "protect",
    "quadratic_gaussian",
    "random_distances",
    "random_relative_distances",
    "randomise",
    "randomised_response",
    "rebuilt",
    "records_failing",
    "regress",
    "relative_distances",
    "report",
    "rivals",
    "sample_size",
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
    "within",
    "worst_case",
]

__version__ = "0.1.0"

# Where each name lives: it is imported when it is first asked for, so that who needs the algebra
# alone does not wait for tables, and a command not for what it does not use.
_HOMES = {
    "referee.comparison": "Comparison compare",
    "analyst.contingency": "Contingency contingency estimate",
    "displacing": "Displaced displace displace_together",
    "errors": (
        "BistochasticError DomainError EntropyError ExactnessError KeyFileError "
        "KeystreamError MaskingError MatrixError MeasureError NotBistochasticError "
        "PlanError ReleaseError SecretError SingularMatrixError SupportError TableError "
        "TargetError TooLargeError"
    ),
    "estimate.comparison": "Estimated",
    "estimate.independence": "Independence",
    "referee.evaluation": "Evaluation evaluate",
    "referee.frequencies": "Frequencies frequencies",
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
    "measures.attributes": "Attribute",
    "measures.chance": "random_distances random_relative_distances",
    "measures.closeness": "Anonymity Closeness anonymity closeness",
    "measures.closeness_bounds": (
        "ClusterDeniability closeness_epsilon cluster_deniability epsilon_closeness"
    ),
    "measures.design": "design_effect sample_size",
    "measures.disclosure": "Disclosure Posterior disclosure",
    "measures.dominance": "Dominance dominance dominates",
    "measures.figures": "Figure",
    "measures.histogram": "Histogram",
    "measures.information": "Information",
    "measures.likelihood": "Through likelihood_linkage",
    "measures.linkage": "Linkage linkage",
    "measures.nominal": "changed marginality",
    "measures.permutation": (
        "Displacement displacement file_information_loss file_protection "
        "information_loss relative_distances"
    ),
    "measures.permuted": "PermutedColumn own_privacy permuted_privacy records_failing",
    "measures.preference": "Preference preference",
    "measures.propensity": "Propensity propensity",
    "measures.utility": "Compared column_utility pair_utility",
    "measures.worst": "EpsilonBound WorstCase worst_case",
    "plan.plan": "Plan",
    "frontier.planes": "Plane plane",
    "analyst.regressions": "regress",
    "release": "Release",
    "frontier.rivals": "rivals",
    "run": "protect",
    "scope": "Scope domain_digest",
    "analyst.summaries": "within",
    "telling": "report",
    "tradeoff.bounds": "Bounds",
    "tradeoff.closeness": "Leakage",
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

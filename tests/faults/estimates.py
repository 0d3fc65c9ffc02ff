"""Faulty estimates: formulas that are nearly right, and errors that are told too small."""

import bistochastic as bs
from tests.analyst import test_contingency as contingency
from tests.estimate import test_axes as axes
from tests.estimate import test_comparison as comparison
from tests.estimate import test_dispersion as dispersion
from tests.estimate import test_identifiable as identifiable
from tests.estimate import test_independence as independence
from tests.estimate import test_intervals as intervals
from tests.estimate import test_likelihood as likelihood
from tests.estimate import test_shares as shares
from tests.faults.samplers import fault
from tests.tables import test_tallies as tallies

GOLDEN, PEARSON = shares.test_golden_values, independence.test_of_columns_that_passed_it_is_pearsons
SHARES, SEARCH = "estimate.shares:_shares", "estimate.likelihood:_Search"
AFFINE, SOLVED = "estimate.inverses:Affine", "estimate.inverses:Solved"
SUMS = identifiable.test_sums_asked_for_can_be_known_though_their_codes_are_not
ASYMMETRIC = axes.test_what_is_not_symmetric
CERTIFIED = likelihood.test_it_is_a_distribution_that_no_other_surpasses

ESTIMATES = [
    fault("n for n - 1", SHARES, "raw *= rows / max(rows - 1, 1) / total**2",
          "raw *= 1 / total**2", GOLDEN),
    fault("the mean taken off once", SHARES, "each - 2 * estimate * own", "each - estimate * own",
          GOLDEN),
    fault("a file's own variance kept", SHARES, "raw = (each - own)", "raw = (each - 0 * own)",
          shares.test_generalised_randomised_response_written_out, 3),
    fault("negative variances in silence", SHARES, "clipped = raw < -noise",
          "clipped = raw < -1e9", shares.test_a_negative_variance_is_told),
    fault("squares without their cross term", f"{AFFINE}.squared", "own * (own + 2 * each)",
          "own * own", GOLDEN),
    fault("P for its transpose", f"{SOLVED}.apply", "rsolve", "solve",
          ASYMMETRIC),
    fault("the transpose for P", f"{SOLVED}.transposed", "channel.solve", "channel.rsolve",
          ASYMMETRIC),
    fault("spread by columns", f"{SOLVED}.spread", "entry(truths[:, None], codes[None, :])",
          "entry(codes[None, :], truths[:, None])",
          ASYMMETRIC),
    fault("a lie too many in a lumped mixture", "estimate.axes:lumped", "(share - 1)", "share",
          axes.test_a_group_of_which_some_columns_are_asked),
    fault("members counted with the others", "estimate.shares:_of_all", "every - members * spread",
          "every - spread", ASYMMETRIC),
    fault("positions not carried back", "estimate.margins:_distinct", "place[order] =", "place =",
          shares.test_keys_are_put_together_alike_in_any_way),
    fault("an axis left out of a margin", "estimate.margins:_applied", "noisy[:done]",
          "noisy[: max(done - 1, 0)]", shares.test_margins_alone_give_what_the_whole_table_gives),
    fault("the range for what is hidden", "estimate.identifiable:identified", "right[rank:].T",
          "right[:rank].T", SUMS),
    fault("a likelihood that may fall", f"{SEARCH}._step", "reached >= plain",
          "reached >= plain - 1e-3", likelihood.test_slow_channels_are_certified_too,
          bs.Tridiagonal([0.24] * 39), 10**4),
    fault("a certificate a hundred times too wide", f"{SEARCH}.run", "missing <= self.gap",
          "missing <= 100 * self.gap", CERTIFIED),
    fault("empty cells taken for others", "estimate.boundary:on_the_face",
          "np.flatnonzero(found.shares.ravel() > EMPTY / tally.total)",
          "np.arange(found.shares.size)", likelihood.test_errors_on_the_boundary),
    fault("weights that cost nothing", "estimate.boundary:_inverse", "lines.T * tally.squared",
          "lines.T * tally.mass", likelihood.test_errors_with_weights_are_the_robust_ones),
    fault("others who report nothing", "estimate.intervals:_score", "lean = own - others",
          "lean = own - 0 * others", intervals.test_of_a_mixture_it_is_wilsons_of_the_report),
    fault("weights that tell as much as rows", "estimate.intervals:_effective",
          "& shares.weighted", "& False", intervals.test_weights_count_as_fewer_rows),
    fault("cells that vary alike", "estimate.dispersion:sums", "(flat * there) @ flat.T",
          "flat @ flat.T * there.mean()", dispersion.test_the_matrix_is_that_of_the_formula),
    fault("a ratio of strangers", "estimate.comparison:ratios", "z**2 * both", "0 * both",
          comparison.test_the_ends_of_an_interval_of_a_ratio),
    fault("margins confused", "estimate.independence:independence",
          "columns[None, :, None] * table.sum(axis=1", "rows[:, None, None] * table.sum(axis=1",
          PEARSON),
    fault("the spread of what was found", "estimate.independence:_expected",
          "return along(axes, true, lambda axis: axis.forward).ravel()", "return reported",
          PEARSON),
    fault("squares of weights that are none", "tables.tallies:Counter._add", "weights * weights",
          "weights", tallies.test_the_counts_are_those_of_the_rows, 1 << 22, 7, "frame"),
    fault("batches that replace each other", "tables.tallies:Counter._together", ".sum()",
          ".max()", tallies.test_the_counts_are_those_of_the_rows, 0, 7, "frame"),
    fault("labels of other sums", "analyst.sides:Side._of_sums", "in range(self.axis.count)",
          "in reversed(range(self.axis.count))", contingency.test_what_is_lost_is_named),
    fault("shares within other margins", "analyst.cells:Answer.split", "cells.size + self.margin",
          "cells.size + self.margin[::-1]",
          contingency.test_comparisons_are_those_of_the_original),
]  # fmt: skip

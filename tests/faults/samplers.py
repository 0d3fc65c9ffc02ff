"""Faulty samplers: what has gone wrong elsewhere, or would here, when codes become reports."""

from tests import test_keystream as stream
from tests.faults.planting import Fault
from tests.laws import test_edges as edges
from tests.laws import test_exactness as exactness
from tests.laws import test_exhaustive as exhaustive
from tests.masking import test_joint as joint
from tests.masking import test_randomise as randomise

ALIAS, MIXTURE = "matrices.alias:AliasTable", "matrices.mixture:MixtureForm.draw"
BELOW, STEPS = "matrices.words:uniform_below", "matrices.tridiagonal:TridiagonalForm.draw"


def fault(name, where, old, new, killer, *arguments):
    """A fault in one place."""
    return Fault(name, ((where, old, new),), killer, arguments)


ONE, TWO = exhaustive.test_structures_of_one_word, exhaustive.test_structures_of_two_words
EDGES, CHANNELS = edges.test_the_first_and_last_word_of_every_run, exhaustive.test_random_channels

SAMPLERS = [
    fault(
        "a grid of 7 bits", f"{ALIAS}._fill",
        "np.bitwise_and(word, rest_mask,",
        "np.bitwise_and(word, rest_mask & ~(rest_mask >> np.uint64(7)),",
        CHANNELS, 0,
    ),
    fault(
        "<= for <", f"{ALIAS}._fill",
        "np.greater_equal(rest, limit,", "np.greater(rest, limit,", CHANNELS, 0,
    ),
    fault(
        "<= for <, at 64 bits", f"{ALIAS}._fill",
        "np.greater_equal(rest, limit,",
        "(np.greater if self.word_bits == 64 else np.greater_equal)(rest, limit,",
        EDGES, "general",
    ),
    fault(
        "thresholds in float32", f"{ALIAS}._fill",
        "np.greater_equal(rest, limit,",
        "np.greater_equal(rest.astype(np.float32), limit.astype(np.float32),",
        EDGES, "general",
    ),
    fault(
        "thresholds in float64", f"{ALIAS}._fill",
        "np.greater_equal(rest, limit,",
        "np.greater_equal(rest.astype(np.float64), limit.astype(np.float64),",
        EDGES, "general",
    ),
    fault(
        "alias and own column swapped", f"{ALIAS}._fill",
        "np.greater_equal(rest, limit,", "np.less(rest, limit,", CHANNELS, 0,
    ),
    fault(
        "the alias of another slot", f"{ALIAS}._fill",
        "np.take(aliases, slot,", "np.take(np.roll(aliases, 1), slot,", CHANNELS, 0,
    ),
    fault(
        "the row of another code", f"{ALIAS}._fill",
        "np.copyto(rest, codes[start : start + CHUNK],",
        "np.copyto(rest, np.roll(codes[start : start + CHUNK], 1),",
        randomise.test_one_batch_and_any_partition, "dense",
    ),
    fault(
        "low bits choose the slot and are compared too", f"{ALIAS}._fill",
        "np.right_shift(word, shift, out=at)",
        "np.bitwise_and(word, np.uint64((1 << k) - 1), out=at)",
        CHANNELS, 0,
    ),
    fault(
        "a threshold off by one", "matrices.alias:_sweep",
        "cap + (spared[spent] - lacked[ends[spent]])",
        "cap + (spared[spent] - lacked[ends[spent]]) - np.uint64(1)",
        CHANNELS, 0,
    ),
    Fault(
        "a threshold off by one, and a certificate that says yes to everything",
        (
            ("matrices.alias:_sweep",
             "cap + (spared[spent] - lacked[ends[spent]])",
             "cap + (spared[spent] - lacked[ends[spent]]) - np.uint64(1)"),
            (f"{ALIAS}.certify", "if not self._row_is_exact(row):", "if False:"),
        ),
        CHANNELS, (0,),
    ),
    fault(
        "a heavy column that gave out is its own alias", "matrices.alias:_sweep",
        "alias[heavy[spent]] = heavy[spent + 1]", "alias[heavy[spent]] = heavy[spent]",
        CHANNELS, 0,
    ),
    fault(
        "certain rows are not", f"{ALIAS}.build",
        "alias[row] = column", "alias[row] = 0", CHANNELS, 0,
    ),
    fault(
        "aliases in one byte", f"{ALIAS}.build",
        "np.min_scalar_type(n - 1)", "np.uint8",
        exhaustive.test_reports_beyond_a_byte, 257,
    ),
    fault(
        "reports in the type of the codes, come what may", "matrices.exact:report_dtype",
        "return np.min_scalar_type(size - 1) if np.iinfo(given).max < size - 1 else given",
        "return given",
        randomise.test_reports_beyond_the_type_of_the_codes, 257,
    ),
    fault(
        "rows and columns exchanged", "matrices.dense:TableForm.of",
        "AliasTable.build(weights,", "AliasTable.build(weights.T.copy(),", ONE, "dense",
    ),
    fault(
        "two columns of a matrix swapped", "matrices.dense:TableForm.draw",
        "return self.table.sample(codes, words(0, 0, None))",
        "drawn = self.table.sample(codes, words(0, 0, None))\n"
        "    return np.where(drawn < 2, 1 - np.minimum(drawn, 1), drawn)",
        ONE, "dense",
    ),
    fault(
        "a lie among all categories", MIXTURE,
        "other += other >= true", "other = (first % np.uint64(self.n)).astype(narrow)",
        ONE, "mixture",
    ),
    fault("a lie may be the truth", MIXTURE, "other += other >= true", "pass", ONE, "mixture"),
    fault(
        "a lie by remainder", MIXTURE,
        "(first - np.uint64(kept)) // np.uint64(self.lie)",
        "first.astype(np.uint8) % np.uint64(self.n - 1)",
        ONE, "randomised response",
    ),
    fault(
        "an outcome under one input only", MIXTURE,
        "return np.where(first < np.uint64(kept), true, other)",
        "other = np.where(other == self.n - 1, true, other)\n"
        "    return np.where(first < np.uint64(kept), true, other)",
        ONE, "mixture",
    ),
    fault(
        "the truth one word too often", MIXTURE,
        "return np.where(first < np", "return np.where(first <= np", ONE, "mixture",
    ),
    fault(
        "the truth one word too often, at 64 bits", MIXTURE,
        "return np.where(first < np.uint64(kept)",
        "return np.where(first < np.uint64(kept + (self.word_bits == 64))",
        EDGES, "response",
    ),
    fault(
        "lies at 64 bits in doubles", MIXTURE,
        "((first - np.uint64(kept)) // np.uint64(self.lie))",
        "np.floor((first - np.uint64(kept)) / float(self.lie))",
        EDGES, "response",
    ),
    fault(
        "epsilon 1 % too large", MIXTURE,
        "else self.truth", "else self.truth + self.truth // 100", ONE, "randomised response",
    ),
    fault(
        "epsilon 1 % too large and declared so", "matrices.mixture:randomised_response",
        "Decimal(float(epsilon)).exp()", "Decimal(float(epsilon) * 1.01).exp()",
        exactness.test_a_requested_epsilon_is_never_exceeded, 12, 1.0,
    ),
    fault(
        "the second word is the first", MIXTURE,
        "uniform_below(self.n - 1, 1, words,", "uniform_below(self.n - 1, 0, words,",
        TWO, "seldom true",
    ),
    fault("a step in the wrong direction", "matrices.circulant:CirculantForm.draw",
          "codes.astype(np.int64) + self.table",
          "codes.astype(np.int64) + self.size - self.table", ONE, "circulant"),
    fault("no way around the circle", "matrices.circulant:CirculantForm.draw",
          "self.size * (moved >= self.size)", "1 * (moved >= self.size)", ONE, "circulant"),
    fault("steps counted in a byte", "matrices.circulant:CirculantForm.draw",
          "moved -= self.size", "moved = moved % 256\n    moved -= self.size", ONE, "many steps"),
    fault("certain steps are not", "matrices.circulant:CirculantForm.draw",
          "+ self.sure) %", ") %", ONE, "certain step"),
    fault("up is down", STEPS, "- (first < down)", "- (first < up)", ONE, "tridiagonal"),
    fault("one word too many goes up", STEPS,
          "first - down < up", "first - down <= up", ONE, "tridiagonal"),
    fault("one word too many goes down, at 64 bits", STEPS,
          "- (first < down)", "- (first < down + np.uint64((self.word_bits == 64) * 1))",
          EDGES, "tridiagonal"),
    fault("certain exchanges do not happen", STEPS,
          "if self.sure.any():", "if False:", ONE, "certain exchange"),
    fault("a bias by remainder", BELOW,
          "words(draw, 0, None) // share * (bound > np.uint64(1))",
          "words(draw, 0, None) % bound", ONE, "blocks"),
    fault("a rejected word is bent to the last member", BELOW,
          "late = np.flatnonzero(answer >= bound)",
          "answer = np.minimum(answer, bound - np.uint64(1))\n"
          "    late = np.flatnonzero(answer >= bound)", ONE, "blocks"),
    fault("a word drawn again is bent into range", BELOW,
          "answer[late] = again",
          "again = np.minimum(again, (bound if bound.ndim == 0 else bound[late]) - np.uint64(1))\n"
          "        answer[late] = again",
          stream.test_known_reports),
    fault("half of the words rejected without need", "matrices.words:_share",
          "top // sizes", "top // sizes // np.uint64(2)", stream.test_known_reports),
    fault("every block begins at 0", "matrices.blocks:BlocksForm.draw",
          "self.matrix.starts[block] + within", "within", ONE, "blocks"),
    fault("the block of the neighbour", "matrices.blocks:Blocks.block_of",
          'side="right"', 'side="left"',
          stream.test_second_implementation_reports_the_same, "blocks"),
    fault("the inverse permutation", "matrices.permutation:PermutationForm.draw",
          "self.matrix.order[codes]", "np.argsort(self.matrix.order)[codes]", ONE, "permutation"),
    fault("a lottery among the wrong permutations", "matrices.birkhoff:BirkhoffForm.draw",
          "self.table.sample(None, words(0, 0, None)), codes]",
          "np.maximum(self.table.sample(None, words(0, 0, None)), 1), codes]", ONE, "birkhoff"),
    fault("one word for two factors", "matrices.words:shifted",
          "words(draw + by, attempt, cells)", "words(draw, attempt, cells)", TWO, "joint"),
    fault("factors in the wrong order", "matrices.kronecker:KroneckerForm.draw",
          "self._digits(codes)", "self._digits(codes)[::-1]", TWO, "joint"),
    fault("columns folded in the wrong order", "masking.joint:fold",
          "zip(digits, radices, strict=True)", "zip(digits[::-1], radices, strict=True)",
          joint.test_the_first_column_is_the_first_factor),
    fault("folded codes wrap around", "masking.joint:fold",
          ".astype(np.uint64)", ".astype(np.int32).astype(np.uint64)",
          joint.test_as_many_cells_as_there_are_numbers, [2**31, 2**32]),
    fault("the counter restarts in each chunk", "masking.randomise:Randomiser.rows",
          "self._rows.words(first + at, first + end)", "self._rows.words(first, first + end - at)",
          randomise.test_one_batch_and_any_partition, "dense"),
    fault("the counter restarts in each batch", "masking.randomise:Randomiser.rows",
          "first = _first_row(start, true.size)", "first = 0",
          randomise.test_one_batch_and_any_partition, "dense"),
    fault("a chunk of reports is missing", "masking.randomise:Randomiser._filled",
          "range(0, max(true.size, 1), CHUNK)", "range(0, CHUNK, CHUNK)",
          randomise.test_ten_thousand_repeats_are_one_report),
    fault("records of another chunk", "masking.randomise:Randomiser.records",
          "named[at:end]", "named[: end - at]",
          randomise.test_ten_thousand_repeats_are_one_report),
]  # fmt: skip

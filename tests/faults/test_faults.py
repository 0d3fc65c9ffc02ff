"""The tests are tested: each planted fault is caught by the ordinary test that claims to.

Where a fault survives, a test is missing. What is not caught by statistics is caught by proofs: a
threshold that is off by one word of 2^64, or kept in single precision, no audit would ever see.
"""

import pytest

from tests.faults.estimates import ESTIMATES
from tests.faults.planting import Fault, caught, planted, run
from tests.faults.samplers import SAMPLERS
from tests.faults.streams import STREAMS
from tests.laws import test_exhaustive as exhaustive

FAULTS = SAMPLERS + STREAMS + ESTIMATES
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_there_are_many_and_each_has_a_name():
    """No fault is counted twice."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 80
    assert len({fault.patches for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(fault):
    """The test fails with the fault in it and passes once the fault is gone."""
    assert caught(fault)
    run(fault.killer, fault.arguments)


def test_a_harmless_change_survives():
    """The runner itself does not call everything a catch."""
    where, old = "matrices.mixture:MixtureForm.draw", "other += other >= true"
    harmless = Fault(
        "none", ((where, old, "other = other + (true <= other)"),),
        exhaustive.test_structures_of_one_word, ("mixture",),
    )  # fmt: skip
    assert not caught(harmless)


def test_a_fault_that_is_not_there_is_an_error():
    """A piece of source that was edited away since does not pass for a caught fault."""
    gone = Fault("gone", (("secret:Secret.reveal", "return nothing", "pass"),), print)
    with pytest.raises(AssertionError, match="stands 0 times"), planted(gone):
        pass

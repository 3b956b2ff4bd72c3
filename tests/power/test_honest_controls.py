"""Positive controls: what is honest is green, so that the traps prove something."""

import pytest
from trapped import BOTH, HEAD, HONEST_HUNT, HONEST_PROOF

from verify.judge import Bench, decide
from verify.profiles import profile

HOLDS = HEAD.replace("toy/NAME", "toy/theorem-1") + "\nCLAIM = two_and_two()\n"
REFUTED = HEAD.replace("toy/NAME", "toy/theorem-2") + "\nCLAIM = refuted_five()\n"


def test_honest_claim_holds(decided):
    report = decided(HOLDS + BOTH)
    claim = report.claims[0]
    assert report.run.exit_code == 0
    assert (claim.verdict, claim.grade, claim.scope) == ("HOLDS", "symbolic", "all")
    assert all(mutant.rejected for mutant in claim.mutants)


def test_honest_refutation_is_green(decided):
    report = decided(REFUTED + BOTH)
    claim = report.claims[0]
    assert report.run.exit_code == 0
    assert claim.verdict == "REFUTED"
    assert claim.anchors[0].held == ["proof", "hunt"]
    assert [mutant.by for mutant in claim.mutants] == [["proof", "hunt"]] * 2


def test_blind_cell_that_stays_blind_is_green(decided):
    blind = "blind={'hunt': 'it looks at parity alone'}"
    mutants = (
        f"(Mutant('six', why='four', total=6, {blind}),"
        " Mutant('seven', why='four', total=7))"
    )
    source = HOLDS.replace("two_and_two()\n", f"two_and_two(mutants={mutants})\n")
    hunt = HONEST_HUNT.replace(
        "return counted(claim)",
        "return Holds(n=1) if claim.total % 2 == 0 else counted(claim)",
    )
    report = decided(source + HONEST_PROOF + hunt)
    assert report.run.exit_code == 0
    assert report.claims[0].mutants[0].by == ["proof"]


def test_slow_example_is_no_failure(decided):
    hunt = """
@check(CLAIM, grade="property", scope="integers")
def slow(claim):
    import time
    from hypothesis import strategies as st
    from verify.search import Search

    def violated(x):
        if not CALLS:
            CALLS.append(x)
            time.sleep(0.3)  # Hypothesis fails examples above 200 ms by default
        return 2 + 2 != claim.total

    return Search(5, 0).for_all(
        st.integers(), violated, lambda x: wrong_sum(claim.total), searched="Z"
    )
"""
    report = decided(HOLDS + HONEST_PROOF + hunt)
    assert report.run.exit_code == 0
    assert report.claims[0].checks[1].n == 5


def test_evidence_is_made_once_and_judged_for_every_change(decided):
    checks = """
@evidence
def fingers(seed):
    CALLS.append(seed)
    return len(CALLS), 4

@check(CLAIM, grade="property", scope="a hand")
def hunt(claim, fingers):
    made, total = fingers
    if total == claim.total:
        return Holds(n=1, measured=made)
    return Refuted("miscounted", witness=wrong_sum(claim.total), measured=made)
"""
    report = decided(HOLDS + HONEST_PROOF + checks)
    record = report.claims[0].checks[1]
    assert report.run.exit_code == 0
    assert record.measured == 1
    assert [trial.measured for trial in record.trials] == [1, 1]


def test_optional_check_that_gives_up_lowers_nothing(decided):
    optional = """
@check(CLAIM, grade="numeric", scope="extra", optional=True)
def extra(claim):
    if claim.total != 4:
        return counted(claim)
    return Inconclusive("too large here", cause=Cause.BUDGET)
"""
    report = decided(HOLDS + BOTH + optional)
    assert report.run.exit_code == 0
    assert report.claims[0].verdict == "HOLDS"


def test_trained_disagreement_of_an_optional_check_is_red(decided):
    optional = """
@check(CLAIM, grade="trained", scope="32 seeds", optional=True)
def extra(claim):
    return Refuted("networks disagree", witness=wrong_sum(5))
"""
    report = decided(HOLDS + BOTH + optional)
    assert report.run.exit_code == 1
    assert report.claims[0].verdict == "HOLDS"
    assert "extra (trained) disagrees" in report.run.red[0]


def test_interrupt_by_the_user_passes_through(loaded):
    stop = """
@check(CLAIM, grade="property", scope="one case")
def stop(claim):
    raise KeyboardInterrupt
"""
    entry = next(iter(loaded(HOLDS + HONEST_PROOF + stop)))
    with pytest.raises(KeyboardInterrupt):
        decide(Bench(profile("smoke")), entry.checks[1], entry.claim)

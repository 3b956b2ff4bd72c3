"""Every trap, judged in this process: the run is red and names the fault."""

import pytest
from traps import REFUSED, TRAPS


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.slug)
def test_trap_is_caught(trap, decided):
    report = decided(trap.source, trap.slug)
    claim = report.claims[0]
    said = "\n".join([*report.run.red, claim.reason])
    assert report.run.exit_code == 1
    assert claim.verdict == trap.verdict
    assert (claim.fault or "") == trap.fault
    assert trap.names_fault in said
    assert report.papers[0].counts.holds == (trap.verdict == "HOLDS")


@pytest.mark.parametrize("trap", REFUSED, ids=lambda trap: trap.slug)
def test_declaration_is_refused(trap, loaded):
    with pytest.raises((ValueError, TypeError)) as refusal:
        loaded(trap.source, trap.slug)
    assert trap.names_fault in str(refusal.value)

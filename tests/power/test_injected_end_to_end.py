"""The same traps through pytest, as a user runs them."""

import pytest
from traps import REFUSED, TRAPS

ALONE = (
    "hard-coded success",
    "always refutes a claim found refuted",
    "NaN measured",
    "SystemExit with success",
    "skip on the claim alone",
    "trained evidence refutes a theorem",
)
QUIET = ("-q", "-rN", "--tb=line")


@pytest.fixture(scope="module")
def all_traps(new_project):
    """One run over all traps: exit code, text and claims."""
    project = new_project("traps")
    for trap in TRAPS:
        project.add(trap)
    code, text = project.run(*QUIET)
    return code, text, {claim["id"]: claim for claim in project.report()["claims"]}


@pytest.fixture(scope="module")
def all_refused(new_project):
    """One run over all modules that must be refused: exit code and text."""
    project = new_project("refused")
    for trap in REFUSED:
        project.add(trap)
    return project.run(*QUIET)


def test_every_trap_is_in_the_record(all_traps):
    code, _, claims = all_traps
    assert code == 1
    assert set(claims) == {trap.claim_id for trap in TRAPS}


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.slug)
def test_trap_is_red_in_a_run(trap, all_traps):
    _, text, claims = all_traps
    claim = claims[trap.claim_id]
    assert claim["verdict"] == trap.verdict
    assert (claim["fault"] or "") == trap.fault
    assert f"red: {trap.claim_id}: " in text


@pytest.mark.parametrize("trap", REFUSED, ids=lambda trap: trap.slug)
def test_refused_module_is_named(trap, all_refused):
    code, text = all_refused
    assert code == 2
    assert f"ERROR collecting theorems/toy/{trap.slug}.py" in text


@pytest.mark.parametrize("name", ALONE)
def test_trap_alone_turns_the_run_red(name, new_project):
    trap = next(trap for trap in TRAPS if trap.name == name)
    project = new_project(trap.slug)
    project.add(trap)
    code, text = project.run(*QUIET)
    claim = project.report()["claims"][0]
    assert code == 1
    assert claim["verdict"] != "HOLDS"
    assert trap.names_fault in "\n".join(project.report()["run"]["red"])
    assert "1 failed" in text

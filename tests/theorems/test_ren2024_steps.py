"""The dual model trained in fractions: what it accepts and what it tells apart."""

import pytest

from theorems.ren2024.layers.exact import GradientSteps, small_layers
from theorems.ren2024.theorem_3_1_dual_form import AS_PRINTED, CLAIMS, identity
from verify.symbolic import evaluate, padded

MUTANTS = [(claim, mutant) for claim in CLAIMS for mutant in claim.mutants]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.reading)
def test_the_claim_as_stated_is_never_violated(claim):
    steps = GradientSteps(claim)
    assert not any(steps.violated(layer) for layer in small_layers())


@pytest.mark.parametrize(
    ("claim", "mutant"), MUTANTS, ids=[f"{c.reading}: {m.name}" for c, m in MUTANTS]
)
def test_every_mutant_is_violated_where_the_proved_expression_says_so(claim, mutant):
    changed = claim.changed(mutant)
    steps, compare = GradientSteps(changed), identity(changed)
    found = [steps.violated(layer) for layer in small_layers()]
    assert any(found)
    assert found == [compare.violated(layer) for layer in small_layers()]


def test_the_steps_end_where_the_proved_expression_ends():
    steps, prediction = GradientSteps(AS_PRINTED), identity(AS_PRINTED).left
    for layer in small_layers():
        proved = evaluate(prediction, padded(layer), "exact")
        assert steps.prediction(layer) == list(proved[:, 0])

"""The modified layers of ren2024 against literal evaluations, and their witnesses."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theorems.ren2024 import appendix_f_optimality as optimality
from theorems.ren2024 import equation_12_regularised as regularised
from theorems.ren2024 import equation_13_self_attention as self_attention
from theorems.ren2024 import equation_15_negative as negative
from theorems.ren2024 import rank_wf_low_rank as low_rank
from theorems.ren2024 import theorem_b_1_transformer_layer as transformer_layer
from theorems.ren2024 import theorem_b_2_attention_layers as attention_layers
from theorems.ren2024.duals import (
    decide,
    drawn,
    ranks,
    regression,
    ridge,
    spectrum,
    stack,
    transformer,
)
from verify import recheck

TEN = [drawn.feature_layer(3, 2, 2, 3, seed) for seed in range(10)]


def column(matrix):
    return list(matrix[:, 0])


def attend(V, Phi, query):
    kernels = Phi.T @ query
    return V @ kernels / kernels.sum()


@pytest.mark.parametrize("layer", TEN)
def test_regularised_layer_is_the_literal_formula(layer):
    V = np.hstack([layer["V_D"], (1 - layer["alpha"]) * layer["V_T"]])
    Phi = np.hstack([layer["Phi_D"], layer["Phi_T"]])
    expected = column(attend(V, Phi, layer["p"]))
    assert decide.literal_kernels(regularised.ATTENTION, layer) == expected
    assert decide.prediction(regularised.ATTENTION, layer) == expected


@pytest.mark.parametrize("layer", TEN)
def test_negative_samples_are_means_over_their_sets(layer):
    V = layer["V_D"].copy()
    for i in range(V.shape[1]):
        chosen = [j for j in range(V.shape[1]) if layer["P"][j, i]]
        mean = sum(layer["V_D"][:, j] for j in chosen) / Fraction(len(chosen))
        V[:, i] = layer["V_D"][:, i] - layer["beta"] * mean
    V, Phi = np.hstack([V, layer["V_T"]]), np.hstack([layer["Phi_D"], layer["Phi_T"]])
    expected = column(attend(V, Phi, layer["p"]))
    assert decide.literal_kernels(negative.CLAIM, layer) == expected


def test_wrong_coefficients_of_the_regulariser_hide_at_one_and_one_half():
    claim = regularised.ATTENTION
    halved, doubled = (claim.changed(claim.mutants[k]) for k in (0, 1))
    for layer in TEN:
        at_one = layer | {"eta": Fraction(1)}
        at_half = layer | {"eta": Fraction(1, 2)}
        right = decide.prediction(claim, layer)
        assert decide.prediction(halved, at_one) == right
        assert decide.prediction(doubled, at_half) == right
        assert decide.prediction(halved, layer | {"eta": Fraction(3)}) != right


def test_diagonal_of_the_attention_block_not_the_identity_is_dual():
    for layer in TEN:
        V = np.hstack([layer["V_D"], layer["v_q"]])
        kernels = np.hstack([layer["Phi_D"], layer["phi_k"]]).T @ layer["p"]
        A = kernels / kernels.sum()
        repaired, printed = A.copy(), A.copy()
        repaired[-1] -= layer["alpha"] * A[-1]
        printed[-1] -= layer["alpha"]
        predicted = decide.prediction(self_attention.PRINTED, layer)
        assert predicted == column(V @ repaired)
        literal = decide.literal_kernels(self_attention.PRINTED, layer)
        assert literal == column(V @ printed)


def test_images_are_those_of_a_function():
    layer = drawn.binary_layer(3, 2, 2, 1, 4)
    images = {}
    for name, image in (("K_D", "gK_D"), ("K_T", "gK_T"), ("q", "gq")):
        for x, y in zip(layer[name].T, layer[image].T, strict=True):
            assert images.setdefault(tuple(x), tuple(y)) == tuple(y)


def test_ridge_by_kernels_is_ridge_by_features():
    for layer in ridge.layers():
        gram = layer["Phi_D"].T @ layer["Phi_D"]
        gram = gram + layer["alpha"] * np.eye(len(gram), dtype=int)
        weights = ridge.solved(gram, layer["V_D"])
        output = weights @ (layer["Phi_D"].T @ layer["p"])
        assert column(output) == ridge.trained(layer)


def test_networks_of_the_search_have_different_patterns():
    claim = transformer_layer.CLAIM
    gated = [transformer.gated(claim, layer) for layer in transformer.fixed()]
    patterns = [column(x["I_M"].diagonal()[:, None]) for x in gated]
    assert {sum(p) for p in patterns} >= {0, 1, 2}


def test_one_layer_is_blind_to_masks_where_two_are_not():
    claim = attention_layers.CLAIM
    for mutant in claim.mutants[:5]:
        changed = claim.changed(mutant)
        for one in stack.PINNED:
            short = replace(one, weights=one.weights[:1])
            (_, theirs, ours), *_ = stack.pairs(changed, short)
            assert list(theirs[:, -1]) == list(ours[:, -1])
        assert any(stack.differs(changed, one) for one in stack.PINNED)


@pytest.mark.parametrize("seed", range(20))
def test_minors_give_the_rank(seed):
    net = ranks.network(1 + seed % 3, seed % 3, seed, 2)
    numpy_rank = np.linalg.matrix_rank(net.product.astype(float))
    assert ranks.rank(net.product) == numpy_rank
    assert recheck.decide(ranks.witness(net)).valid


def test_printed_rank_fails_without_idle_units():
    """A unit without weights is not needed: two active units may be parallel."""
    W_1, W_2 = [[1, 0], [1, 0], [0, 1]], [[1, -1, 0], [0, 0, 1]]
    bias, point = [[0], [0], [-9]], [[1], [1]]
    parts = {"W_1": W_1, "W_2": W_2, "b_1": bias, "h": point}
    net = ranks.Network({k: np.array(x, dtype=object) for k, x in parts.items()})
    assert (net.ranks[ranks.r_M], net.ranks[ranks.r]) == (2, 0)
    assert not bool(ranks.PRINTED_LOWER.subs(net.ranks))
    assert bool(ranks.SYLVESTER.subs(net.ranks))
    assert low_rank.PRINTED.finding.verdict == "REFUTED"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_coefficients_are_those_of_the_determinant(n):
    for seed in range(5):
        case = spectrum.singular(n, seed)
        found = spectrum.values(case)
        assert sum(c * case.alpha**j for j, c in enumerate(found)) == 0
        assert found[n - 1] == sum(case.A[i, i] for i in range(n))


def test_better_weights_than_the_constructed_ones():
    task = regression.fixed_tasks(regression.ANY)[0]
    moments = task["X"] @ task["X"].T
    rival = np.array([[Fraction(4)], [Fraction(3)]], dtype=object)
    assert (rival.T @ rival)[0, 0] == (task["w"].T @ task["w"])[0, 0] == 25
    ours = (rival.T @ moments @ task["w"])[0, 0]
    assert ours > (task["w"].T @ moments @ task["w"])[0, 0]
    record = regression.shortfall(optimality.PRINTED, task)
    assert recheck.decide(record).valid

"""Theorem 3.1 in a published BERT: every head and query, and the whole network.

all-MiniLM-L6-v2 (6 layers, 12 heads, width 384), or the checkpoint named by the user.
In a BERT every token is a query of every head, and is among its own keys. Two rows:

    1. each head of each layer, for each query, given the network's own hidden states;
    2. the whole network: dual models in all layers, each given what the dual models
       before it made, with output maps, biases, residual connections, normalisations
       and feed-forward maps as they are.

Deviations from the text: attention is bidirectional and the feed-forward maps use GELU,
so this is Theorem 3.1 once per head and query, not Theorem B.1 or B.2; the 1/√d that
the text drops is kept. The number of dual models is layers × heads × tokens.
Runs under ``make verify-real`` only; no profile includes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sympy import Integer, Rational

from theorems.ren2024 import PAPER, real
from theorems.ren2024.theorem_3_1_dual_form import SELF_ATTENTION
from verify import (
    Claim,
    Kind,
    Mutant,
    Need,
    Outcome,
    Requires,
    Wording,
    check,
    evidence,
)
from verify.numerics import Tolerance, within
from verify.verdict import Grade

if TYPE_CHECKING:
    from theorems.ren2024.real.stack import Network

ONE_NETWORK = Requires(
    (Need(frozenset({Grade.NUMERIC})),),
    why="an instance of a theorem proved for all layers, on one network and one text",
)
TEMPERATURE = Mutant(
    "scores not divided by √d",
    why="the network divides them",
    temperature=Integer(0),
)
PARAMETERS = {**SELF_ATTENTION.parameters, "temperature": Rational(1, 2)}
HALF_A_STEP = Mutant(
    "half a step",
    why="demonstrations count half",
    step_length=Rational(1, 2),
)

LAYERS = Claim(
    id="ren2024/theorem-3.1/bert-layers",
    kind=Kind.EXAMPLE,
    title="every head of a published BERT is one gradient step",
    says=(
        "For every head of every layer of a published BERT, and every token of a text "
        "as query, one gradient step of its dual model gives the head's output."
    ),
    latex=SELF_ATTENTION.latex,
    quantifiers="for all layers, heads and queries of one network on one text",
    source=PAPER.at("Theorem 3.1", "on a real network; not in the paper"),
    wording=Wording.OURS,
    parameters=PARAMETERS,
    mutants=(*SELF_ATTENTION.mutants, TEMPERATURE, HALF_A_STEP),
    requires=ONE_NETWORK,
)
STACK = Claim(
    id="ren2024/theorem-3.1/bert-stack",
    kind=Kind.EXAMPLE,
    title="a published BERT with dual models for attention",
    says=(
        "A published BERT in which every attention is replaced by its dual model after "
        "one gradient step, layer upon layer, has the same hidden states at the end."
    ),
    latex=SELF_ATTENTION.latex,
    quantifiers="one network on one text",
    source=PAPER.at("Theorem 3.1", "through all layers; not in the paper"),
    wording=Wording.OURS,
    parameters=PARAMETERS,
    mutants=LAYERS.mutants,
    requires=ONE_NETWORK,
)


@evidence
def real_network(seed: int) -> Network:
    """The network as it is, and what rounding may do to it."""
    from theorems.ren2024.real import checkpoint, stack

    return stack.network(checkpoint.load(checkpoint.folder()), seed=seed)


@check(
    LAYERS,
    grade="numeric",
    scope="every head and query of one BERT on one text",
    profiles=real.profiles(),
)
def every_head_is_one_step(claim: Claim, real_network: Network) -> Outcome:
    """Train a dual model per head and query by autograd, with the claim's own loss."""
    from theorems.ren2024.real import stack

    distances = stack.layer_distances(claim, real_network).numpy()
    layers, each = distances.shape
    n = real_network.embedded.shape[0]
    return within(
        distances.ravel(),
        Tolerance(np.stack([*real_network.tolerances]).ravel(), stack.ROUNDING),
        says="dual prediction and attention of a real head differ beyond rounding",
        labels={
            "layer": np.repeat(np.arange(layers), each),
            "head": np.tile(np.repeat(np.arange(each // n), n), layers),
            "query": np.tile(np.arange(n), layers * each // n),
        },
        searched=f"{real_network.checkpoint.name}: {layers} layers, {each // n} heads, "
        f"{n} tokens",
    )


@check(
    STACK,
    grade="numeric",
    scope="all layers of one BERT on one text",
    profiles=real.profiles(),
)
def whole_network_is_the_same(claim: Claim, real_network: Network) -> Outcome:
    """Run the network on its dual models from the embedding to the last layer."""
    from theorems.ren2024.real import stack

    return within(
        [stack.stack_distance(claim, real_network)],
        Tolerance([real_network.allowed], stack.ROUNDING),
        says="the network on dual models ends elsewhere beyond rounding",
        searched=f"{real_network.checkpoint.name}, {len(real_network.given)} layers "
        "deep, every token a query",
    )

"""Theorem B.1 in floating point: the dual model with a bias, trained by autograd."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from theorems.ren2024.duals.floats import (
    PER_SHAPE,
    Arrays,
    Layers,
    compiled,
    judged,
    random_layers,
)
from verify import Claim, Outcome
from verify.numerics import gamma
from verify.train.determinism import generator


def random_networks(instances: int, seed: int) -> Layers:
    """Random layers with random feed-forward networks of up to 16 units."""
    found = []
    for index, arrays in enumerate(random_layers(instances, seed).batches):
        draws = generator(seed, "networks", index)
        hidden = int(torch.randint(1, 17, (), generator=draws))
        rows, n = arrays["V_D"].shape[-2:]
        shapes = {"W_1": (hidden, rows), "W_2": (rows, hidden), "b_1": (hidden, 1)}
        shapes |= {"b_2": (rows, 1), "K_D": (rows, n)}
        found.append(
            arrays
            | {"d_h": hidden}
            | {
                name: torch.randn(PER_SHAPE, *shape, generator=draws).double()
                for name, shape in shapes.items()
            }
        )
    return Layers(tuple(found))


def by_autograd(claim: Claim, layers: Layers) -> Outcome:
    """Decide on random layers; W, and b if the claim says so, by autograd."""
    errors: list[np.ndarray] = []
    allowed: list[np.ndarray] = []
    for arrays in layers.batches:
        parts = [
            torch.cat([arrays[f"{x}_D"], arrays[f"{x}_T"]], -1) for x in ("V", "Phi")
        ]
        weights = parts[1].mT @ arrays["p"]
        weights = weights / weights.sum(dim=-2, keepdim=True)
        known = arrays | {"h": parts[0] @ weights}
        gate = compiled(claim.gate)(known)[..., 0] >= 0
        pattern = torch.diag_embed(gate.double())
        known |= {"I_M": pattern, "W_F": arrays["W_2"] @ pattern @ arrays["W_1"]}
        relu = compiled(claim.inner)(known).relu()
        output = arrays["W_2"] @ relu + compiled(claim.skip)(known)
        errors.append((_trained(claim, known) - output).norm(dim=(-2, -1)).numpy())
        allowed.append(_bound(known, parts[0].abs() @ weights).numpy())
    return judged(errors, allowed)


def _trained(claim: Claim, arrays: Arrays) -> Tensor:
    fixed = arrays | {"D": compiled(claim.normaliser)(arrays).expand(PER_SHAPE)}
    weights = compiled(claim.init)(fixed).clone().requires_grad_()
    bias = compiled(claim.bias)(fixed).clone().requires_grad_()
    loss = compiled(claim.loss)(fixed | {"W": weights, "b": bias}).sum()
    step, bias_step = torch.autograd.grad(loss, (weights, bias))
    eta = arrays["eta"][:, None, None]
    bias = bias - int(claim.bias_trained) * eta * bias_step
    return ((weights - eta * step) @ arrays["p"] + bias).detach()


def _bound(arrays: Arrays, size: Tensor) -> Tensor:
    """``γ_m`` times the layer with absolute values and the ones of I_M.

    The longest path adds two products with the network, ``d_o + d_h`` each, and the
    bias terms to those of the attention (see ``floats.modified``).
    """
    n, d_r = arrays["N"] + arrays["T"] + 1, arrays["d_r"]
    operations = 4 * (n + d_r + arrays["d_o"] + arrays["d_h"]) + 2 * n + 60
    inner = arrays["W_1"].abs() @ size + arrays["b_1"].abs()
    output = arrays["W_2"].abs() @ arrays["I_M"] @ inner + arrays["b_2"].abs()
    return gamma(operations) * output.norm(dim=(-2, -1))

"""Self-checks: dual models in fractions and in floating point, and their layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verify import Compared, compare, self_check

N, T, D_O, D_R = 5, 2, 3, 4  # sizes of the layers that are compared


@self_check(
    says="The prediction of a trained dual model: in fractions with the derived "
    "gradient, and in torch with autograd; and the layer it is dual to, in both.",
    why="γ_m Σ |v_i| a_i of the layer's values and attention, m = 4 (N + T + 1 + d_r) "
    "+ 2N + 40 operations along the longest path; fractions do not round at all",
)
def fractions_and_autograd() -> Iterator[Compared]:
    """Compare plain, regularised and negative-sample dual models."""
    from theorems.ren2024 import equation_12_regularised, equation_15_negative
    from theorems.ren2024.duals import decide, floats
    from theorems.ren2024.duals.drawn import feature_layer

    layers = [feature_layer(N, T, D_O, D_R, seed) for seed in range(floats.PER_SHAPE)]
    arrays = _in_torch(layers)
    for claim in (equation_12_regularised.ATTENTION, equation_15_negative.CLAIM):
        exact = [decide.prediction(claim, layer) for layer in layers]
        literal = [decide.literal_kernels(claim, layer) for layer in layers]
        gap = max(
            abs(a - b)
            for one, other in zip(exact, literal, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        what = claim.title or claim.short_id
        yield compare(f"{what}, both in fractions", gap, 0, 0)
        trained = floats.trained(claim, arrays)
        attended, allowed = floats.modified(claim, arrays)
        for how, found in (("autograd", trained), ("attention", attended)):
            errors = [
                sum((float(x) - y) ** 2 for x, y in zip(one, row, strict=True)) ** 0.5
                for one, row in zip(exact, found[..., 0].tolist(), strict=True)
            ]
            worst = max(
                zip(errors, allowed.tolist(), strict=True), key=lambda x: x[0] / x[1]
            )
            yield Compared(f"{what}, fractions and {how}", *worst)


def _in_torch(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Layers of one shape as a batch of doubles; quarters and eighths are exact."""
    import numpy as np
    import torch

    def tensor(name: str) -> Any:
        values = [np.asarray(layer[name], dtype=np.float64) for layer in layers]
        return torch.tensor(np.stack(values))

    names = set(layers[0]) - {"P_q"}
    sizes = {"N": N, "T": T, "d_o": D_O, "d_r": D_R}
    return {name: tensor(name) for name in names} | sizes

"""What is trained for Figures 3 and 10 to 13: variants by name, one study per task.

Rates are those of Appendix E: 0.003 for normal and regularised layers and 0.005 for the
rest on the linear task, where the normal layer is trained at both; 0.005 on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verify.profiles import Profile
from verify.runs import Study
from verify.train.seeds import seed_of

SLOW, FAST = 0.003, 0.005
HALF = (-0.5, 0.5)  # of the values of α in Table 1; smaller ones change less
LAYERS: dict[str, dict[str, float]] = {
    "skip-normalised": {"skip": 1.0, "norm": 1.0},
    "skip": {"skip": 1.0},
    "diagonal": {"diagonal": 1.0},
    "diagonal-normalised": {"diagonal": 1.0, "norm": 1.0},
    "scores": {"scores": 1.0, "norm": 1.0},
}
PLAIN: dict[str, Any] = {
    "skip": 0.0, "diagonal": 0.0, "scores": 0.0, "norm": 0.0, "other": False,
    "beta": 0.0, "k": 1, "per_token": False, "g_1": False, "g_2": False,
    "plus": False, "elu": False,
}  # fmt: skip
NEGATIVE: dict[str, Any] = {"beta": 0.1, "k": 3}  # Section 5
AUGMENTED = {
    "g_1": {"g_1": True},
    "g_2": {"g_2": True},
    "g_1 and g_2": {"g_1": True, "g_2": True},
    "g_2^+": {"g_2": True, "plus": True},
}
# Prompts of one step each; 16384 tokens make an epoch (Appendix E).
STEPS = {
    "linear": {"smoke": 256, "default": 2048, "full": 4096},
    "trig": {"smoke": 64, "default": 512, "full": 1024},
    "exp": {"smoke": 16, "default": 192, "full": 384},
}
HELD_OUT = {"linear": 64, "trig": 32, "exp": 16}


def regularised(layer: str, alpha: float) -> dict[str, float]:
    """The coefficients of a layer: ``α`` of its kind."""
    return {
        name: value if name == "norm" else alpha * value
        for name, value in LAYERS[layer].items()
    }


def name_of(layer: str, alpha: float) -> str:
    """Name of a regularised variant."""
    return f"{layer} {alpha:g}"


def variants(task: str) -> Iterator[tuple[str, float, str, dict[str, Any]]]:
    """Name, rate, kind and changed fields of every variant of a task."""
    rate = SLOW if task == "linear" else FAST
    alphas = {"linear": HALF, "trig": (-0.5,), "exp": (16.0,)}[task]
    combined = regularised("skip-normalised", 16.0 if task == "exp" else -0.5)
    yield "normal", rate, "plain", {}
    for layer in LAYERS:
        for alpha in alphas:
            yield name_of(layer, alpha), rate, "plain", regularised(layer, alpha)
    if task == "linear":
        yield "normal, fast", FAST, "plain", {}
        more = regularised("skip-normalised", 2.0)
        yield name_of("skip-normalised", 2.0), rate, "plain", more
        for alpha in (-0.5, 0.5):
            other = regularised("skip-normalised", alpha) | {"other": True}
            yield name_of("other", alpha), rate, "plain", other
        yield "own negatives, k = 3", FAST, "plain", NEGATIVE | {"per_token": True}
        yield "regularised, fast", FAST, "plain", combined
    for k in (3, 8):
        yield f"negatives, k = {k}", FAST, "plain", {"beta": 0.1, "k": k}
    yield "regularised and negative", FAST, "plain", combined | NEGATIVE
    for name, changed in AUGMENTED.items():
        curved = {"elu": True} if task != "linear" and name == "g_2^+" else {}
        yield name, FAST, "augmented", changed | curved
    key = AUGMENTED["g_2"]
    yield "regularised and augmented", FAST, "augmented", combined | key
    yield "augmented and negative", FAST, "augmented", key | NEGATIVE
    yield "all three", FAST, "augmented", combined | key | NEGATIVE


def seeds_of(task: str, profile: Profile) -> int:
    """Seeds of a study: 32 leave differences of 5 % undecided, 128 a long tail."""
    default = 32 if task == "exp" else 64
    full = 192 if task == "linear" else 128
    return profile.pick(smoke=32, default=default, full=full)


def study(task: str, profile: Profile, root_seed: int, device: str) -> Study:
    """Every variant of a task, on the same runs for every module that asks."""
    configurations = [
        PLAIN | changed | {"name": name, "lr": lr, "kind": kind, "task": task}
        for name, lr, kind, changed in variants(task)
    ]
    return _study(f"ren2024/{task}", task, configurations, profile, root_seed, device)


def normal(
    task: str, profile: Profile, root_seed: int, device: str, least: int = 0
) -> Study:
    """The unmodified layer alone, with ``least`` seeds or more.

    Most runs of the exponential task diverge at its rate, and the identity does not
    depend on the weights: there the rate is a tenth.
    """
    lr = {"linear": SLOW, "trig": FAST, "exp": FAST / 10}[task]
    only = PLAIN | {"name": "normal", "lr": lr, "kind": "plain", "task": task}
    name = f"ren2024/{task}/normal"
    return _study(name, task, [only], profile, root_seed, device, least)


def _study(
    name: str,
    task: str,
    configurations: list[dict[str, Any]],
    profile: Profile,
    root_seed: int,
    device: str,
    least: int = 0,
) -> Study:
    count = max(seeds_of(task, profile), least)
    return Study(
        name=name,
        trainer="theorems.ren2024.studies.training:pretrain",
        configurations=configurations,
        seeds=[seed_of(root_seed, name, "run", i) for i in range(count)],
        options={
            f"{task} steps": STEPS[task][profile.name],
            f"{task} held out": HELD_OUT[task],
        },
        same=("task", "kind"),
        chunk=count * len(configurations),  # a seed's variants share their prompts
        device=device,
        dtype="float32",  # differences of paired runs; the theory is in float64
        bytes_per_run=1 << 20,
    )

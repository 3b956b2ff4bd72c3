"""Figure 2: a narrower window has lower bias and larger variance.

Collins et al. (NeurIPS 2024), Figure 2: "as we shrink the attention window, the
estimator has lower bias (the expected value of the estimate is closer to the ground-
truth label) but larger variance".

For affine tasks both hold for every prompt, without expectation over covariates.
With γ_i ∝ e^{-w u_i}, u_i = 1 - x_i·x, differentiating in w gives

    d/dw Σ γ_i u_i = -Σ_{i<j} γ_i γ_j (u_i - u_j)²                        <= 0,
    d/dw Σ γ_i²    = 2 Σ_{i<j} γ_i γ_j (γ_i - γ_j) (u_j - u_i)            >= 0,

the second since γ falls with u. Averaged over covariates uniform on the sphere,
the first is the bias over l (w·x), and σ² times the second the variance from noise.

Deviations from the text:
    1. "Bias" is |E estimate - f(x)|, as in the figure, not L_signal, which also has
       the variance due to the covariates and grows again for very narrow windows.
    2. "Variance" is that due to noise, as in Section 3.1.
"""

from __future__ import annotations

from functools import cache

from sympy import Integer, symbols
from sympy import exp as sympy_exp

from theorems.collins2024 import PAPER
from verify import Claim, Kind, Mutant, Outcome, Wording, check, evidence

CLAIM = Claim(
    id="collins2024/figure-2",
    kind=Kind.EMPIRICAL,
    title="narrower window: lower bias, larger variance",
    says="As w grows, the bias of the estimate falls and its variance grows.",
    latex=r"\frac{d}{dw} |\mathbb{E}\hat f - f| \le 0, \quad "
    r"\frac{d}{dw} \sigma^2\, \mathbb{E} \sum_i \gamma_i^2 \ge 0",
    quantifiers="affine tasks, any n, d >= 2 and w; covariates uniform on the sphere",
    source=PAPER.at("Figure 2"),
    wording=Wording.PRINTED,
    parameters={"bias": Integer(-1), "variance": Integer(1)},
    mutants=(
        Mutant("the bias grows", why="nearer tokens weigh more", bias=Integer(1)),
        Mutant("the variance falls", why="fewer tokens count", variance=Integer(-1)),
    ),
)
SCALES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SIZES = ((2, 5), (2, 50), (3, 20), (5, 20), (5, 200))  # d, n


@evidence
def curves() -> dict[tuple[str, int, int], list[float]]:
    """Bias and Σ γ² over w, by quadrature."""
    from theorems.collins2024.loss import moments
    from theorems.collins2024.window import spread

    found = {}
    for d, n in SIZES:
        found["bias", d, n] = [spread.bias(w, n, d) for w in SCALES]
        found["variance", d, n] = [float(v) for v in moments(SCALES, n, d, (1,)).V]
    return found


def _sign(direction: Integer) -> str:
    return ">=" if direction > 0 else "<="


@check(CLAIM, grade="symbolic", scope="all")
def derivatives_have_one_sign(claim: Claim) -> Outcome:
    """Prove both identities for n = 2, 3, 4; for any n they are sums over pairs.

    Both sides are polynomials in γ that collect pairs of tokens (Lagrange's identity),
    with Σ γ = 1. A claim of the opposite sign fails at two tokens, u = 0 and 1, from
    w = 0 to w = log 2: γ goes from (1/2, 1/2) to (2/3, 1/3).
    """
    from theorems.collins2024.window.comparing import compared

    steps = [step for n in (2, 3, 4) for step in _identities(n)]
    bias = compared([("bias", 1 / 3, 1 / 2)], _sign(claim.bias), Integer(1))
    variance = compared([("variance", 5 / 9, 1 / 2)], _sign(claim.variance), Integer(1))
    outcome = variance if bias.verdict == "HOLDS" else bias
    return outcome.but(steps=steps, reason="both derivatives are sums of one sign")


@cache
def _identities(n: int) -> tuple[str, ...]:
    """Check both identities for n tokens.

    Raises:
        ArithmeticError: One of them fails.
    """
    w = symbols("w", real=True)
    u = symbols(f"u1:{n + 1}", real=True)
    e = [sympy_exp(-w * one) for one in u]
    y = symbols(f"y1:{n + 1}", positive=True)  # e_i, once differentiated
    named = dict(zip(e, y, strict=True))
    total = sum(y)
    gamma = [one / total for one in y]
    mean = sum(a * b for a, b in zip(e, u, strict=True)) / sum(e)
    square = sum(one**2 for one in e) / sum(e) ** 2
    pairs = [(i, j) for j in range(n) for i in range(j)]
    expected = (
        -sum(gamma[i] * gamma[j] * (u[i] - u[j]) ** 2 for i, j in pairs),
        2
        * sum(
            gamma[i] * gamma[j] * (gamma[i] - gamma[j]) * (u[j] - u[i])
            for i, j in pairs
        ),
    )
    steps = []
    names = ("d/dw Σ γ_i u_i", "d/dw Σ γ_i²")
    for name, value, claimed in zip(names, (mean, square), expected, strict=True):
        residual = (value.diff(w).subs(named) - claimed).together()
        if residual.as_numer_denom()[0].expand() != 0:
            raise ArithmeticError(f"{name} is no sum over pairs for n = {n}")
        steps.append(f"{name} is the sum over pairs, n = {n}: identity in e_i and u_i")
    return tuple(steps)


@check(CLAIM, grade="numeric", scope="d = 2, 3, 5, n = 5 to 200, w = 0 to 100")
def curves_are_monotone(
    claim: Claim, curves: dict[tuple[str, int, int], list[float]]
) -> Outcome:
    """Compare neighbouring windows."""
    from theorems.collins2024.window.comparing import compared

    outcomes = []
    for kind in ("bias", "variance"):
        rows = [
            (f"{kind}, d = {d}, n = {n}, w = {b:g} after {a:g}", after, before)
            for (what, d, n), values in curves.items()
            if what == kind
            for a, b, before, after in zip(
                SCALES, SCALES[1:], values, values[1:], strict=False
            )
        ]
        sign = _sign(claim.parameters[kind])
        outcomes.append(compared(rows, sign, Integer(1)))
    wrong = [one for one in outcomes if one.verdict != "HOLDS"]
    return (wrong or outcomes)[0]

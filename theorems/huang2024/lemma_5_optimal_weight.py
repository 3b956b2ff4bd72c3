"""Lemma 5: optimal tokens keep their attention weight.

Huang, Liang and Yang (NeurIPS 2024), Lemma 5 of Appendix C.2. Along stage 2 of
Algorithm 1 from W_kq = 0, under Assumptions 1 to 3, for every sample n and step t,

    Σ_{l* ∈ l^(n)} φ_{l*}^{(n,t)} ≥ 1/L_max.

The induction rests on φ_+ ≥ Φ_i, the attention on the tokens with any other next token
i. Assumption 3 counts each token on its own; it gives φ_+ ≥ Φ_i if n is injective. If n
is any map, seven tokens refute the lemma after one step of any length: two tokens with
one next token draw the error of a frequent sample, its query rises beside its optimal
token, and in a rare sample this takes attention from the carrier. Counting the tokens
with one next token together repairs the lemma, and the proof then gives more: φ_+ never
falls below its start |l^(n)|/L^(n).

Deviations from the text:
    1. The display is lost; it is rebuilt from "the lower bound of optimal token weight
       is 1/L_max" (Section 5.3).
    2. W_ov x = Δ e_{In(x)} + const for all x, as the appendix assumes "for simplicity";
       stage 1 gives it exactly (proposition_1_feed_forward.py).
Not decided here: how fast φ_+ grows (theorem_2_loss.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.descent import cases, decide, exact, proofs
from theorems.huang2024.descent.decide import Bound
from theorems.huang2024.descent.notation import (
    ANY_MAP,
    AS_PRINTED,
    GROUPED,
    INJECTIVE,
    REPAIRED,
    Data,
    L,
    carriers,
    length,
    phi,
)
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    evidence,
    necessity,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.huang2024.data.dataset import Dataset
    from theorems.huang2024.descent.observed import Along, Rows

MUTANTS = (
    Mutant("2/L_max", why="attention starts even, |l| = 1", bound=2 / L),
    Mutant("1/(L_max - 1)", why="the same", bound=1 / (L - 1)),
    Mutant("1/sqrt(L_max)", why="the same", bound=1 / sp.sqrt(L)),
    Mutant("1/2", why="false at the start of samples of three tokens", bound=sp.S.Half),
    Mutant(
        "one per cent more",
        why="1/L_max is attained at t = 0",
        bound=sp.Rational(101, 100) / L,
    ),
)

AS_INJECTIVE = Claim(
    id="huang2024/lemma-5@injective",
    title="optimal tokens keep their weight, n injective",
    says=(
        "Along stage 2 the attention weights of the optimal tokens of a sample add up "
        "to at least 1/L_max, at every step."
    ),
    latex=r"\sum_{\ell_* \in l^{(n)}} \varphi^{(n,t)}_{\ell_*} \ge \frac{1}{L_{\max}}",
    quantifiers="for all data of Assumptions 1-3, all samples, η > 0, Δ > 0 and t ≥ 0",
    source=PAPER.at("Lemma 5", "Appendix C.2"),
    wording=Wording.DERIVED,
    domain=INJECTIVE,
    assumes=AS_PRINTED,
    parameters={"bound": 1 / L},
    mutants=MUTANTS,
    anchors=(
        Anchor("half of it", why="follows", bound=1 / (2 * L)),
        Anchor("grouped counts", why="the repaired claim", domain=GROUPED),
    ),
)

AS_ANY_MAP = Claim(
    id="huang2024/lemma-5@any-map",
    title="optimal tokens keep their weight, any map n",
    says=AS_INJECTIVE.says,
    latex=AS_INJECTIVE.latex,
    quantifiers=AS_INJECTIVE.quantifiers,
    source=AS_INJECTIVE.source,
    wording=Wording.DERIVED,
    domain=ANY_MAP,
    assumes=AS_PRINTED,
    parameters={"bound": 1 / L},
    mutants=MUTANTS,
    anchors=(
        Anchor("grouped counts", why="the repaired claim", domain=GROUPED),
        Anchor("n injective", why="grouped counts follow", domain=INJECTIVE),
    ),
    finding=refuted(
        "tokens with one next token count separately in Assumption 3 and together in "
        "the gradient; seven tokens and one step of any length suffice"
    ),
    nearest="huang2024/lemma-5/repaired",
    pinned=((cases.outvoted(), 12.0, 0.3),),
)

WHOLE = Claim(
    id="huang2024/lemma-5/repaired",
    title="optimal tokens never fall below their share",
    says=(
        "If in no sample the tokens with one other next token outnumber the carriers, "
        "the attention weights of the carriers add up to at least their share "
        "|l|/L of the sample, at every step, for any map n."
    ),
    latex=(
        r"\sum_{\ell_* \in l^{(n)}} \varphi^{(n,t)}_{\ell_*} \ge "
        r"\frac{|l^{(n)}|}{L^{(n)}} \ge \frac{1}{L_{\max}}"
    ),
    quantifiers="for all maps n, all samples, η > 0, Δ > 0 and t ≥ 0",
    source=PAPER.at("Lemma 5", "repaired"),
    wording=Wording.OURS,
    domain=GROUPED,
    assumes=REPAIRED,
    parameters={"bound": carriers / length},
    mutants=(
        Mutant(
            "one per cent more",
            why="attained at t = 0",
            bound=sp.Rational(101, 100) * carriers / length,
        ),
        Mutant(
            "root of the share",
            why="attention starts even",
            bound=sp.sqrt(carriers / length),
        ),
        Mutant(
            "the query does not count",
            why="it does, at the start",
            bound=carriers / (length - 1),
        ),
        Mutant("one half", why="attention starts even", bound=sp.S.Half),
    ),
    anchors=(Anchor("as printed", why="|l|/L ≥ 1/L_max", bound=1 / length),),
)

CLAIMS = (AS_INJECTIVE, AS_ANY_MAP, WHOLE)


# ---------------------------------------------------------------- exact


@check(*CLAIMS, grade="symbolic", scope="all")
def attention_on_carriers_never_falls(claim: Claim) -> Outcome:
    """Signs of the scores by induction; φ_+ starts at |l|/L and does not fall."""
    if not claim.domain.grouped:
        return Refuted(
            "a query that rises with the optimal token of one sample takes attention "
            "from the carrier of another",
            witness=SEVEN_TOKENS.witness(claim.bound),
        )
    low = {carriers: 1, length: 2}
    at_start = carriers / length
    shared = claim.bound.subs(L, length)
    # one carrier in the longest sample is the worst case of a bound in L_max
    proved = at_start if carriers in shared.free_symbols else 1 / length
    bound = Bound("φ_+ ≥ bound", phi, ">=", shared, proved, low)
    return decide.bounds((bound,), exact.samples_at_start(), proofs.weights())


@dataclass(frozen=True)
class FirstStep:
    """φ_+ of a sample after one step, as a formula.

    Attributes:
        says: Which data.
        dataset: The data.
        sample: Index of the sample.
        start: Scores at t = 0 by (token, query).
        step: Length of the step.
    """

    says: str
    dataset: Dataset
    sample: int = 1
    start: tuple[tuple[tuple[int, int], int], ...] = ()
    step: Fraction = Fraction(3, 10)

    def witness(self, bound: sp.Expr, *, steps: int = 1) -> dict[str, object]:
        """Record that φ_+ is below a bound; every step length > 0 would do."""
        scores = exact.after(self.dataset, steps, dict(self.start))
        weight = exact.phi_plus(self.dataset, self.sample, scores)
        sentence = self.dataset.sentences[self.sample]
        inputs = {
            "eta": self.step,
            "Delta": 12,
            "L": self.dataset.max_length,
            "carriers": len(self.dataset.carriers(self.sample)),
            "length": len(sentence),
        }
        says = f"{self.says}: φ_+ of {sentence} is below the bound at t = {steps}"
        return formula(weight, "<", bound, inputs, says)


SEVEN_TOKENS = FirstStep("seven tokens", cases.outvoted())


# ---------------------------------------------------------------- floating point


def _relations(claim: Claim) -> tuple[Along, ...]:
    from theorems.huang2024.descent.observed import Along

    bound = claim.bound
    of_sample = {carriers, length} & bound.free_symbols
    own = sp.Symbol("share") if of_sample else phi
    return (Along("φ_+ ≥ bound", own, bound),)


@evidence
def paths(profile: Profile, seed: int) -> Rows:
    """Random and extreme data, and the counterexample."""
    from theorems.huang2024.descent import observed

    count = profile.pick(smoke=60, default=300, full=3_000)
    runs = observed.random_settings(seed, count)
    known = (*cases.INJECTIVE_CASES, cases.outvoted())
    runs += [observed.Setting(one, 12.0, 0.3) for one in known]
    return observed.follow(runs)


@check(*CLAIMS, grade="property", scope="random data, |V| ≤ 7, L ≤ 12, t ≤ 300")
def holds_along_paths(claim: Claim, paths: Rows) -> Outcome:
    """Follow many paths in floating point; report how tight the bound is."""
    from theorems.huang2024.descent import observed

    return observed.judge(
        _relations(claim), observed.of(paths, claim.domain), "random and extreme data"
    )


@check(*CLAIMS, grade="property", scope="small data drawn by a search, t ≤ 60")
def survives_a_search(claim: Claim, search: Search) -> Outcome:
    """Let Hypothesis push φ_+ down."""
    from theorems.huang2024.descent import hunt

    return hunt.search_paths(claim, _relations(claim), search)


# ---------------------------------------------------------------- necessity


@necessity(
    AS_INJECTIVE,
    assumption="counts",
    needed=True,
    grade="certified",
    scope="four tokens, one step",
)
def without_counts(claim: Claim) -> Outcome:
    """[o, m, m, q] lifts q, and [o', q, q, q] loses o'."""
    case = FirstStep("without Assumption 3", cases.crowded_out(999))
    return Refuted("φ_+ falls below 1/L_max", witness=case.witness(claim.bound))


@necessity(
    *CLAIMS,
    assumption="no-confused",
    needed=True,
    grade="certified",
    scope="four tokens, one step",
)
def with_a_confused_token(claim: Claim) -> Outcome:
    """[a, b, q] -> n(a) presses b down, which [b, c, q] -> n(b) needs."""
    case = FirstStep("a confused token", cases.confused(999))
    return Refuted("φ_+ falls below its start", witness=case.witness(claim.bound))


@necessity(
    *CLAIMS,
    assumption="zero-start",
    needed=True,
    grade="certified",
    scope="two tokens, no step",
)
def from_another_start(claim: Claim) -> Outcome:
    """W(0) that prefers q to o leaves o less than one half."""
    case = FirstStep("q starts at 2", cases.single_pair(), 0, (((1, 1), 2),))
    return Refuted("φ_+ = 1/(1 + e²)", witness=case.witness(claim.bound, steps=0))


@necessity(
    *CLAIMS,
    assumption="normalised",
    needed=False,
    grade="property",
    scope="plain gradient descent on random data",
)
def plain_gradient_descent(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """The signs do not depend on the lengths of steps."""
    from theorems.huang2024.descent import observed

    runs = observed.random_settings(seed, profile.pick(smoke=30, default=90, full=900))
    rows = observed.follow(runs, plain=True)
    data = Data(claim.domain.injective, grouped=True)
    return observed.judge(_relations(claim), observed.of(rows, data), "random data")

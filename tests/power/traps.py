"""The traps: theorem modules with one planted fault each, as source text.

Every module states that two and two are four (or, refuted, five), with honest checks
except for one. ``TRAPS`` load and run; ``REFUSED`` must not even load.
"""

import re
from dataclasses import dataclass
from textwrap import dedent, indent

HEAD = '''\
import math
from verify import *

PAPER = Paper("toy", "A toy paper")
CALLS = []


def wrong_sum(total):
    """Witness: 2 + 2 is not the total."""
    left = ["add", ["in", "a"], ["in", "b"]]
    return {
        "kind": "formula",
        "says": f"2 + 2 is not {total}",
        "inputs": {"a": 2, "b": 2, "total": total},
        "relation": ["!=", left, ["in", "total"]],
    }


def counted(claim):
    """The honest decision."""
    if 2 + 2 == claim.total:
        return Holds("counted", n=1, measured=4, margin=1.0)
    return Refuted("miscounted", witness=wrong_sum(claim.total))


def two_and_two(total=4, **changes):
    mutants = (
        Mutant("six", why="it is four", total=6),
        Mutant("seven", why="it is four", total=7),
    )
    given = dict(
        says="Two and two are as many as claimed.",
        source=PAPER.at("Theorem 1"),
        parameters={"total": total},
        mutants=mutants,
    )
    return Claim(id="toy/NAME", **(given | changes))


def refuted_five(**changes):
    return two_and_two(
        5,
        finding=refuted("it is four"),
        anchors=(Anchor("four", why="counted on fingers", total=4),),
        **changes,
    )
'''

HONEST_PROOF = """
@check(CLAIM, grade="symbolic", scope="all")
def proof(claim):
    return counted(claim)
"""

HONEST_NUMBERS = HONEST_PROOF.replace("symbolic", "numeric").replace("proof", "numbers")

HONEST_HUNT = """
@check(CLAIM, grade="property", scope="one case")
def hunt(claim):
    return counted(claim)
"""


@dataclass(frozen=True)
class Trap:
    """A theorem module with one fault.

    Attributes:
        name: The fault in a few words.
        body: The module below ``HEAD``.
        names_fault: What the reason must contain.
        fault: ``BROKEN``, ``CONFLICT``, or empty where the verdict itself is the sign.
        verdict: Verdict of the claim.
    """

    name: str
    body: str
    names_fault: str
    fault: str = "BROKEN"
    verdict: str = "INCONCLUSIVE"

    @property
    def slug(self) -> str:
        """The name as an identifier."""
        return "_".join(re.findall(r"[a-z0-9]+", self.name.lower()))

    @property
    def claim_id(self) -> str:
        """Id of the claim."""
        return "toy/trap-" + self.slug.replace("_", "-")

    @property
    def source(self) -> str:
        """The whole module."""
        return HEAD.replace("toy/NAME", self.claim_id) + self.body


def in_search(name, code, names_fault, **fields):
    """A fault in the property check; the proof is honest."""
    body = (
        "\nCLAIM = two_and_two()\n"
        + HONEST_PROOF
        + '\n\n@check(CLAIM, grade="property", scope="some cases")\n'
        + "def trap(claim):\n"
        + indent(dedent(code).strip(), "    ")
        + "\n"
    )
    return Trap(name, body, names_fault, **fields)


def module(name, body, names_fault, **fields):
    """A fault anywhere in the module."""
    return Trap(name, "\n" + dedent(body), names_fault, **fields)


BLIND_SUCCESS = [
    in_search("hard-coded success", "return Holds('passed')", "survived"),
    in_search(
        "parameters ignored",
        "return Holds(n=9, measured=2 + 2, target=4, margin=1.0)",
        "'six' survived",
    ),
    in_search(
        "swallowed exception",
        """
        try:
            assert 2 + 2 == claim.total
        except Exception:
            return Holds('nothing to complain about')
        return Holds()
        """,
        "survived",
    ),
    in_search(
        "self-comparison with p = 1",
        """
        left = right = claim.total
        p_value = 1.0 if left == right else 0.0
        return Holds(n=30, measured=p_value, margin=p_value)
        """,
        "survived",
    ),
    in_search(
        "samples that fail are dropped",
        """
        kept = 0
        for total in (claim.total, 4):
            if total != 4:
                continue
            kept += 1
        return Holds(n=kept)
        """,
        "survived",
    ),
    in_search(
        "every sample is dropped on mutants",
        """
        kept = [x for x in range(9) if 2 + 2 == claim.total]
        return Holds(n=len(kept))
        """,
        "no instance was judged",
    ),
    in_search(
        "absolute tolerance as large as the effect",
        "return Holds(n=1) if abs(claim.total - 4) <= 3 else counted(claim)",
        "survived",
    ),
    in_search(
        "verdict read from the finding",
        "return counted(claim) if claim.finding.verdict == 'REFUTED' else Holds()",
        "survived",
    ),
    in_search(
        "one mutant in two is seen",
        "return Holds() if claim.total == 7 else counted(claim)",
        "'seven' survived",
    ),
    in_search(
        "assume throws counterexamples away",
        """
        from hypothesis import assume, strategies as st
        from verify.search import Search

        def violated(x):
            assume(2 + 2 == claim.total or x % 2)
            return False

        return Search(20, 0).for_all(
            st.integers(0, 99), violated, wrong_sum, searched='0..99'
        )
        """,
        "survived",
    ),
]

ALWAYS_REFUTES = [
    in_search(
        "always refutes what is proved",
        "return Refuted('never', witness=wrong_sum(5))",
        "proof proves what trap refutes",
        fault="CONFLICT",
    ),
    module(
        "always refutes a claim found to hold",
        f"""
        CLAIM = two_and_two()
        {indent(HONEST_NUMBERS, " " * 8).strip()}

        @check(CLAIM, grade="property", scope="one case")
        def trap(claim):
            return Refuted("never", witness=wrong_sum(5))
        """,
        "REFUTED, finding HOLDS",
        fault="",
        verdict="REFUTED",
    ),
    module(
        "always refutes a claim found refuted",
        """
        CLAIM = refuted_five()

        @check(CLAIM, grade="property", scope="one case")
        def trap(claim):
            return Refuted("never", witness=wrong_sum(5))
        """,
        "refuted the anchor 'four'",
    ),
    module(
        "proves everywhere what is refuted",
        f"""
        CLAIM = refuted_five()

        @check(CLAIM, grade="symbolic", scope="all")
        def trap(claim):
            return Holds("proved") if claim.total in (4, 5) else counted(claim)
        {indent(HONEST_HUNT, " " * 8)}
        """,
        "trap proves what hunt refutes",
        fault="CONFLICT",
    ),
    module(
        "proves everywhere a claim found refuted",
        """
        CLAIM = refuted_five()

        @check(CLAIM, grade="symbolic", scope="all")
        def trap(claim):
            return Holds("proved") if claim.total in (4, 5) else counted(claim)

        @check(CLAIM, grade="property", scope="one case")
        def hunt(claim):
            return Holds("proved") if claim.total in (4, 5) else counted(claim)
        """,
        "HOLDS, finding REFUTED",
        fault="",
        verdict="HOLDS",
    ),
    module(
        "trained evidence refutes a theorem",
        f"""
        CLAIM = two_and_two()
        {indent(HONEST_PROOF, " " * 8).strip()}
        {indent(HONEST_HUNT, " " * 8)}
        @check(CLAIM, grade="trained", scope="32 seeds")
        def trap(claim):
            return Refuted("networks disagree", witness=wrong_sum(5))
        """,
        "trap (trained) disagrees",
        fault="",
    ),
]

NOT_A_VERDICT = [
    in_search(f"returns {value}", f"return {value}", f"returned {kind}")
    for value, kind in (
        ("True", "bool"),
        ("None", "NoneType"),
        ("'HOLDS'", "str"),
        ("Verdict.HOLDS", "Verdict"),
        ("Truth.PROVED", "Truth"),
        ("(True, 'fine')", "tuple"),
    )
]
NOT_A_VERDICT += [
    in_search("returns a generator", "yield counted(claim)", "returned generator"),
    in_search(
        "says NOT_RUN itself", "return Outcome(verdict=Verdict.NOT_RUN)", "NOT_RUN"
    ),
    in_search(
        "inconclusive without a cause",
        "return Outcome(verdict=Verdict.INCONCLUSIVE)",
        "without a cause",
    ),
]

ON_THE_CLAIM = "return counted(claim).but({}) if claim.total == 4 else counted(claim)"
NUMBERS = [
    in_search(name, ON_THE_CLAIM.format(change), reason, fault=fault)
    for name, change, reason, fault in (
        ("NaN measured", "measured=math.nan", "measured is nan", ""),
        ("NaN target", "target=math.nan", "target is nan", ""),
        ("NaN margin", "margin=math.nan", "margin is nan", ""),
        ("infinite margin", "margin=math.inf", "margin is inf", ""),
        ("infinite interval", "interval=(-math.inf, math.inf)", "interval is -inf", ""),
        ("NaN end of an interval", "interval=(0.0, math.nan)", "is nan", ""),
        ("no instance", "n=0", "no instance was judged", ""),
        ("holds with a negative margin", "margin=-0.5", "negative margin", "BROKEN"),
    )
]
NUMBERS += [
    in_search("NaN level", "return Holds(n=1, level=math.nan)", "cannot be recorded"),
    in_search("margin in words", "return Holds(margin='wide')", "cannot be recorded"),
    in_search(
        "NaN compared with a tolerance",
        """
        error = abs(claim.total - 4) * math.nan
        if error > 1e-6:
            return Refuted('off', witness=wrong_sum(claim.total))
        return Holds(n=1, measured=error)
        """,
        "survived",
    ),
    in_search(
        "NaN among several measured",
        """
        import numpy as np
        return counted(claim).but(measured=np.array([4.0, np.nan]))
        """,
        "measured",
    ),
    in_search(
        "refutes mutants with a positive margin",
        """
        outcome = counted(claim)
        return outcome.but(margin=0.5)
        """,
        "positive margin",
    ),
]

EXCEPTIONS = [
    in_search("exception", "return Holds(n=1 // 0)", "ZeroDivisionError"),
    in_search(
        "exception on mutants alone",
        "return counted(claim) if claim.total == 4 else 1 / 0",
        "survived (ZeroDivisionError",
    ),
    module(
        "exception on an anchor alone",
        """
        CLAIM = refuted_five()

        @check(CLAIM, grade="property", scope="one case")
        def trap(claim):
            return 1 / 0 if claim.total == 4 else counted(claim)
        """,
        "errored on the anchor 'four'",
    ),
    in_search("assertion", "assert claim.total == 5; return Holds()", "AssertionError"),
    in_search("SystemExit with success", "raise SystemExit(0)", "SystemExit"),
    in_search("endless recursion", "return trap(claim)", "RecursionError"),
    in_search("pytest.exit", "import pytest; pytest.exit('done', 0)", "Exit"),
    in_search("misspelt parameter", "return Holds(n=claim.totl)", "'totl'"),
    in_search("misspelt evidence", "return Holds(measurd=4)", "measurd"),
    in_search("generator exit", "raise GeneratorExit", "GeneratorExit"),
    in_search(
        "every example is discarded",
        """
        from hypothesis import strategies as st
        from verify.search import Search

        search = Search(20, 0)
        return search.for_all(
            st.integers(), lambda x: search.discard('no'), wrong_sum, searched='Z'
        )
        """,
        "filtering out a lot",
    ),
]

UNDECIDED = [
    in_search(
        "flaky skip",
        "import pytest; pytest.skip('flaky on this machine')",
        "flaky on this machine",
    ),
    in_search(
        "skip on the claim alone",
        """
        import pytest
        if claim.total == 4:
            pytest.skip('slow')
        return counted(claim)
        """,
        "trap: slow",
        fault="",
    ),
    in_search(
        "skip on mutants alone",
        """
        import pytest
        if claim.total != 4:
            pytest.skip('slow')
        return counted(claim)
        """,
        "survived",
    ),
    in_search(
        "undecided balls taken for true",
        """
        from flint import arb
        from verify.certify import less
        ball = arb(1) / 3
        if claim.total == 4 and not less(ball, ball):
            return Holds(n=1)
        return counted(claim)
        """,
        "undecided",
        fault="",
    ),
    in_search(
        "undecided balls on mutants alone",
        """
        from flint import arb
        from verify.certify import less
        slack = arb(0, 1e-9) if claim.total == 4 else arb(0, 99)
        if less(abs(arb(2) + 2 - claim.total) + slack, arb(1)):
            return Holds(n=1)
        return counted(claim)
        """,
        "survived (INCONCLUSIVE",
    ),
    in_search(
        "raw balls compared by not",
        """
        from flint import arb
        ball = arb(claim.total) / 3
        return Holds(n=1) if not (ball < ball) else counted(claim)
        """,
        "survived",
    ),
    in_search(
        "truth value of a raw ball",
        """
        from flint import arb
        return Holds(n=1) if arb(claim.total - 4, 1) + 1 else counted(claim)
        """,
        "survived",
    ),
    *(
        in_search(
            f"solver says {status}",
            f"""
            from types import SimpleNamespace
            from verify.optimise import solve
            if claim.total == 4:
                solve(SimpleNamespace(
                    solve=lambda **options: 4.0, status={status!r}, constraints=[]
                ))
            return counted(claim)
            """,
            status,
            fault="",
        )
        for status in ("optimal_inaccurate", "infeasible", "unbounded", "user_limit")
    ),
    in_search(
        "solver says optimal where a constraint is violated",
        """
        import cvxpy as cp
        from types import SimpleNamespace
        from verify.optimise import solve
        x = cp.Variable(value=1.0)
        if claim.total == 4:
            solve(SimpleNamespace(
                solve=lambda **options: 4.0, status='optimal', constraints=[x <= 0]
            ))
        return counted(claim)
        """,
        "constraint is violated",
        fault="",
    ),
]

RECORDS = [
    in_search(
        "upper bound below the truth",
        """
        bound = {
            'kind': 'formula',
            'says': 'exp(1) is at most its double',
            'inputs': {'bound': math.exp(1).hex()},
            'relation': ['<=', ['exp', 1], ['in', 'bound']],
        }
        return counted(claim).but(certificate=bound)
        """,
        "invalid certificate",
    ),
    in_search(
        "witness missing",
        "return Refuted('trust me', witness=None)",
        "without a witness",
    ),
    in_search(
        "witness that is valid nowhere",
        "return Refuted('false', witness=wrong_sum(4))",
        "invalid witness",
    ),
    in_search(
        "witness of an unknown kind",
        "return Refuted('odd', witness={'kind': 'rumour'})",
        "malformed witness",
    ),
    in_search(
        "witness without a relation",
        "return Refuted('odd', witness={'kind': 'formula', 'inputs': {}})",
        "malformed witness",
    ),
    in_search(
        "witness in floating point",
        """
        witness = wrong_sum(5)
        witness['inputs']['a'] = 2.1
        return Refuted('odd', witness=witness)
        """,
        "malformed witness",
    ),
    in_search(
        "witness that is no record",
        "return Refuted('odd', witness='2 + 2 = 5')",
        "cannot be recorded",
    ),
    *(
        in_search(
            f"{role} that stays undecided",
            f"""
            tie = {{
                'kind': 'formula',
                'says': 'a number is at least itself',
                'inputs': {{}},
                'relation': ['>=', ['exp', 1], ['exp', 1]],
            }}
            return {made}
            """,
            f"undecided {role}",
        )
        for role, made in (
            ("witness", "Refuted('a tie', witness=tie)"),
            ("certificate", "counted(claim).but(certificate=tie)"),
        )
    ),
    in_search(
        "witness missing on mutants alone",
        """
        outcome = counted(claim)
        return outcome if claim.total == 4 else outcome.but(witness=None)
        """,
        "survived (REFUTED without a witness",
    ),
]

CELLS = [
    module(
        "cell declared blind rejects after all",
        f"""
        MUTANTS = (
            Mutant("six", why="it is four", total=6, blind={{"hunt": "too coarse"}}),
            Mutant("seven", why="it is four", total=7),
        )
        CLAIM = two_and_two(mutants=MUTANTS)
        {indent(HONEST_PROOF, " " * 8).strip()}
        {indent(HONEST_HUNT, " " * 8)}
        """,
        "rejected 'six', to which it is declared blind",
    ),
    module(
        "optional check is broken",
        f"""
        CLAIM = two_and_two()
        {indent(HONEST_PROOF, " " * 8).strip()}
        {indent(HONEST_HUNT, " " * 8)}
        @check(CLAIM, grade="numeric", scope="extra", optional=True)
        def trap(claim):
            return Holds("always")
        """,
        "trap: the mutant 'six' survived",
    ),
    module(
        "necessary assumption found unnecessary",
        f"""
        CLAIM = two_and_two(assumes=(Assumption("fingers", "ten of them"),))
        {indent(HONEST_PROOF, " " * 8).strip()}
        {indent(HONEST_HUNT, " " * 8)}
        @necessity(
            CLAIM, assumption="fingers", needed=True, grade="property", scope="none"
        )
        def trap(claim):
            return Holds("nothing found", n=3)
        """,
        "without 'fingers': no counterexample found, expected needed",
        fault="",
        verdict="HOLDS",
    ),
    module(
        "necessity without a valid witness",
        f"""
        CLAIM = two_and_two(assumes=(Assumption("fingers", "ten of them"),))
        {indent(HONEST_PROOF, " " * 8).strip()}
        {indent(HONEST_HUNT, " " * 8)}
        @necessity(
            CLAIM, assumption="fingers", needed=True, grade="property", scope="none"
        )
        def trap(claim):
            return Refuted("breaks", witness=wrong_sum(4))
        """,
        "trap: invalid witness",
    ),
    module(
        "proof gives up",
        """
        CLAIM = two_and_two()

        @check(CLAIM, grade="numeric", scope="all")
        def numbers(claim):
            if claim.total != 4:
                return counted(claim)
            return Inconclusive("no proof", cause=Cause.NO_PROOF)

        @check(CLAIM, grade="property", scope="one case")
        def hunt(claim):
            return counted(claim)
        """,
        "no proof",
        fault="",
    ),
]

TRAPS = (
    BLIND_SUCCESS
    + ALWAYS_REFUTES
    + NOT_A_VERDICT
    + NUMBERS
    + EXCEPTIONS
    + UNDECIDED
    + RECORDS
    + CELLS
)

BOTH = HONEST_PROOF + "\n" + HONEST_HUNT


def stated(name, claim, names_fault):
    """A claim or variation that must be refused; its checks are honest."""
    return Trap(name, f"\nCLAIM = {claim}\n{BOTH}", names_fault)


REFUSED = [
    stated(
        "mutant of a misspelt parameter",
        "two_and_two(mutants=(Mutant('six', why='four', totl=6),))",
        "'totl'",
    ),
    stated(
        "mutant that changes nothing",
        "two_and_two(mutants=(Mutant('six', why='four'),))",
        "changes nothing",
    ),
    stated(
        "mutant that repeats the claim",
        "two_and_two(mutants=(Mutant('six', why='four', total=4),))",
        "leaves 'total' as it is",
    ),
    stated(
        "mutant without a reason",
        "two_and_two(mutants=(Mutant('six', why='', total=6),))",
        "give a name and a why",
    ),
    stated("claim without mutants", "two_and_two(mutants=())", "no mutants"),
    stated(
        "refuted claim without an anchor",
        "two_and_two(5, finding=refuted('it is four'))",
        "no anchor",
    ),
    stated(
        "finding without a reason", "two_and_two(5, finding=refuted(''))", "its reason"
    ),
    stated("misspelt field of a claim", "two_and_two(mutant=())", "mutant"),
    stated(
        "mutant blind everywhere",
        "two_and_two(mutants=(Mutant('six', why='four', total=6, "
        "blind={'proof': 'no', 'hunt': 'no'}),))",
        "every check is blind",
    ),
    stated(
        "check blind to every mutant",
        "two_and_two(mutants=(Mutant('six', why='four', total=6, "
        "blind={'hunt': 'no'}),))",
        "'hunt' is blind to every mutant",
    ),
    stated(
        "blind in a check that is not there",
        "two_and_two(mutants=(Mutant('six', why='four', total=6, "
        "blind={'hnt': 'no'}),))",
        "'hnt'",
    ),
    stated("parameter list misspelt", "two_and_two(parameter={'total': 4})", "param"),
    module(
        "evidence that takes the claim",
        """
        @evidence
        def measured_after_the_fact(claim):
            return claim.total
        """,
        "takes the claim",
    ),
    module(
        "check that does not take the claim",
        """
        CLAIM = two_and_two()

        @check(CLAIM, grade="symbolic", scope="all")
        def proof():
            return Holds()
        """,
        "does not take the claim",
    ),
    module(
        "search of scope all",
        """
        CLAIM = two_and_two()

        @check(CLAIM, grade="property", scope="all")
        def hunt(claim):
            return counted(claim)
        """,
        'never has scope "all"',
    ),
    module(
        "theorem without a proof",
        f"""
        CLAIM = two_and_two()
        {indent(HONEST_HUNT, " " * 8).strip()}
        """,
        "no check is symbolic or certified or numeric",
    ),
    module(
        "theorem without a search",
        f"""
        CLAIM = two_and_two()
        {indent(HONEST_PROOF, " " * 8).strip()}
        """,
        "no check is property or trained",
    ),
    module(
        "unknown grade",
        """
        CLAIM = two_and_two()

        @check(CLAIM, grade="certain", scope="all")
        def proof(claim):
            return counted(claim)
        """,
        "certain",
    ),
    module(
        "check that asks for what there is not",
        """
        CLAIM = two_and_two()

        @check(CLAIM, grade="symbolic", scope="all")
        def proof(claim, serach):
            return counted(claim)
        """,
        "'serach'",
    ),
    module(
        "required check that may be missing",
        """
        CLAIM = two_and_two()

        @check(CLAIM, grade="symbolic", scope="all", needs_module="rumours")
        def proof(claim):
            return counted(claim)
        """,
        "optional=True",
    ),
]

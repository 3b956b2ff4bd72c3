"""Traps in what a check decides, returns or raises."""

from textwrap import indent

from trapped import HONEST_HUNT, HONEST_NUMBERS, HONEST_PROOF, in_search, module

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
        "a verdict that the first call decides for good",
        """
        CALLS.append(claim.total)
        if len(CALLS) == 1:
            return Holds(n=1)
        return Refuted('memoised', witness=wrong_sum(6))
        """,
        "two decisions",
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

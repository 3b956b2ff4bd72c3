"""Traps in enclosures, solvers, witnesses, blind cells and necessity checks."""

from textwrap import indent

from trapped import HONEST_HUNT, HONEST_PROOF, in_search, module

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

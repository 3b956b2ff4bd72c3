"""Declarations that must be refused before anything runs."""

from textwrap import indent

from trapped import BOTH, HONEST_HUNT, HONEST_PROOF, Trap, module


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

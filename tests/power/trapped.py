"""A trap: a theorem module with one planted fault, as source text.

Every module states that two and two are four (or, refuted, five), with honest checks
except for one.
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


BOTH = HONEST_PROOF + "\n" + HONEST_HUNT


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

"""The badge: its words, its colour, who can read it."""

from xml.etree import ElementTree as ET

import pytest

from verify.report.badge import COLOURS, BadgeError, to_badge
from verify.verdict import Verdict

SVG = "{http://www.w3.org/2000/svg}"


def calm(report, **run):
    """The report without claims that are red; a finished, whole run."""
    run = {"red": [], "crashes": [], "partial": False, "exit_code": 0} | run
    claims = [c for c in report.claims if not c.fault]
    return report.model_copy(
        update={"run": report.run.model_copy(update=run), "claims": claims}
    )


def all_hold(report):
    papers = [
        p.model_copy(update={"counts": type(p.counts)(holds=3)}) for p in report.papers
    ]
    return calm(report).model_copy(update={"papers": papers})


def look(svg):
    """Its texts, colour and title."""
    root = ET.fromstring(svg)
    texts = [node.text for node in root.iter(SVG + "text")]
    colour = root.find(SVG + "path").get("fill")
    (name,) = [key for key, value in COLOURS.items() if value == colour]
    return texts, name, root.find(SVG + "title").text


def test_a_reproduced_run_with_refuted_claims_is_blue_not_green_not_red(report):
    texts, colour, title = look(to_badge(calm(report)))
    assert texts == ["claims", "2 of 8 hold · 1 refuted"]
    assert colour == "blue"
    assert title.startswith("8 claims: 2 hold, 1 is refuted, ")


def test_green_only_where_every_decided_claim_holds(report):
    texts, colour, _ = look(to_badge(all_hold(report)))
    assert (texts[1], colour) == ("6 of 6 hold", "green")


@pytest.mark.parametrize(
    ("run", "words"),
    [({"red": ["x: differs"]}, "2 of 8"), ({"crashes": ["signal 9"]}, "crashed: ")],
)
def test_red_for_a_fault_a_difference_or_a_crash(report, run, words):
    texts, colour, title = look(to_badge(calm(report, **run)))
    assert colour == "red"
    assert texts[1].startswith(words)
    assert "differs" in title or "did not finish" in title


def test_red_for_a_claim_unlike_its_finding_even_if_the_run_does_not_say_so(report):
    whole = calm(report)
    odd = whole.claims[0].model_copy(update={"verdict": Verdict.INCONCLUSIVE})
    changed = whole.model_copy(update={"claims": [odd, *whole.claims[1:]]})
    assert look(to_badge(changed))[1] == "red"


def test_a_partial_run_says_so_and_is_grey(report):
    texts, colour, title = look(to_badge(calm(report, partial=True)))
    assert texts[1].startswith("partial: ")
    assert colour == "grey"
    assert title.startswith("partial run. ")


def test_nothing_decided_is_grey(empty):
    texts, colour, _ = look(to_badge(calm(empty)))
    assert (texts[1], colour) == ("none decided", "grey")


def test_one_paper_is_not_red_for_another(report):
    whole = report.model_copy(
        update={"run": calm(report, red=["huang2024/lemma-5: BROKEN"]).run}
    )
    texts, colour, title = look(to_badge(whole, "ren2024"))
    assert (texts[0], colour) == ("ren2024", "blue")
    assert title.startswith("ren2024: 2 claims: ")
    assert look(to_badge(whole, "huang2024"))[1] == "red"
    self_check = whole.run.model_copy(
        update={"red": ["self-check slopes: they differ"]}
    )
    broken = whole.model_copy(update={"run": self_check})
    assert look(to_badge(broken, "ren2024"))[1] == "red"


def test_unknown_paper_lists_those_that_there_are(report):
    with pytest.raises(BadgeError, match="'x'; it has: ren2024, huang2024"):
        to_badge(report, "x")


def test_a_badge_fetches_nothing_and_names_itself(report):
    svg = to_badge(report)
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find(SVG + "title").text
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert not root.findall(f".//{SVG}script")
    assert not root.findall(f".//{SVG}image")


def test_hostile_texts_stay_texts(report):
    key = "<script>&\x01"
    paper = report.papers[0].model_copy(update={"key": key})
    texts, _, _ = look(
        to_badge(report.model_copy(update={"papers": [paper]}), key)
    )  # parses
    assert texts[0].startswith("<script>&")


@pytest.mark.parametrize("colour", COLOURS.values())
def test_white_text_has_a_contrast_of_more_than_4_5(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    light = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert 1.05 / (light + 0.05) > 4.5

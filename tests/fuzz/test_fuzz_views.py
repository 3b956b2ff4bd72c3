"""Hostile text in every view: it stays text."""

import pytest

from benchmarks.hostile import mutate
from benchmarks.hostile.readers import UNSEEN
from benchmarks.hostile.views import COMMAND, Views, active
from benchmarks.hostile.watch import Watch
from verify.record import Report
from verify.report import render
from verify.report.words import clean


@pytest.fixture(scope="module")
def views(seeds):
    return Views(seeds)


def test_views_of_hostile_reports(views):
    watch = Watch()
    for number in range(12):
        views.view(watch, number)
    assert watch.cases >= 12 * 6
    assert not watch.faults, "\n".join(f"{x.case}: {x.what}" for x in watch.faults[:9])


@pytest.mark.parametrize("text", mutate.INJECTIONS)
def test_each_text_in_every_place_of_every_view(views, seeds, text):
    data = seeds[0]
    for path in [*mutate.places(data)]:
        if isinstance(mutate.at(data, path), str) and not mutate.FIXED & {*path}:
            data = with_text(data, path, text)
    report = Report.model_validate(data)
    html, tex = render(report, "html"), render(report, "tex")
    assert not active(html) - views.active
    assert views.tex_faults(tex) == []
    for form in ("html", "md", "junit", "badge"):
        assert not (UNSEEN - {"\r"}) & {*render(report, form)}, form


def with_text(data, path, text):
    """A copy of the containers on the way, and the text at its end."""
    step, *rest = path
    other = dict(data) if isinstance(data, dict) else list(data)
    other[step] = with_text(data[step], rest, text) if rest else text
    return other


def test_the_harness_sees_what_is_active(views):
    page = "<p id=a><b id=a><a href='javascript:x()'>x</a><img src=x onerror=y()></p>"
    assert {*active(page)} == {
        "a href=javascript:x()", "img", "img src=x", "img onerror", "id a twice",
    }  # fmt: skip
    assert {*COMMAND.findall(r"a\input{x}\_\write18")} == {r"\input", r"\_", r"\write"}
    assert views.tex_faults(r"\input{/etc/passwd}") == [r"commands ['\\input']"]
    assert views.tex_faults("é{") == ["no ASCII", "braces"]


def test_text_is_not_disguised():
    assert clean("a\u202eb\u2066\x9b\x1b\u2028\x00") == "a\ufffdb" + "\ufffd" * 5
    plain = "é ü ‑ – … ≤ 𝕏 \t\n\u200d"
    assert clean(plain) == plain

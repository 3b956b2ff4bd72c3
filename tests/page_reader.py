"""Reads a page back: its tags, ids, links and text."""

from html.parser import HTMLParser

from sample_report import rich_report

from verify.report.page import to_html

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects tags, ids, links and text; insists on balanced tags."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.open, self.text = [], [], [], [], ""
        self.script = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [v for k, v in attributes if k == "id"]
        self.links += [(tag, v) for k, v in attributes if k in {"href", "src"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.script += data
        else:
            self.text += data


def page_of(*claims, **changes):
    """The page of a report with these claims."""
    return Page(to_html(rich_report(claims=list(claims), **changes)))

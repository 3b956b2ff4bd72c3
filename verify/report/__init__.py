"""Views of a run's record: HTML, Markdown, LaTeX, JUnit XML, and the JSON itself."""

from verify.report.views import (
    FORMATS,
    ReportError,
    append_step_summary,
    render,
    write_views,
)

__all__ = ["FORMATS", "ReportError", "append_step_summary", "render", "write_views"]

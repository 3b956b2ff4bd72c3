"""Certified arithmetic: enclosures whose comparisons are three-valued."""

from verify.certify.balls import decide, less

__all__ = ["decide", "less"]

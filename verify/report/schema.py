"""The JSON Schema of ``report.json``: ``python -m verify.report.schema`` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verify.record import SCHEMA_VERSION, Report

PATH = Path(__file__).with_name("schemas") / f"report-{SCHEMA_VERSION}.json"


def schema() -> dict[str, Any]:
    """The JSON Schema of a report, from the models."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:theorem-verify:report:{SCHEMA_VERSION}",
        **Report.model_json_schema(mode="serialization"),
        "title": f"report.json, schema version {SCHEMA_VERSION}",
    }


def text() -> str:
    """The schema file, byte for byte."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")

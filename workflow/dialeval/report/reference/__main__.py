"""Writes every page of the docs that is generated, and the JSON schema of the configuration."""

from __future__ import annotations

import sys
from pathlib import Path

from dialeval.paths import IS_INSTALLED
from dialeval.report.reference import configuration, prompts, python, registries

PAGES = (configuration, prompts, python)


def texts() -> dict[Path, str]:
    """Return the generated text of each file."""
    return {page.DOCS: page.docs_text() for page in PAGES} | {
        configuration.SCHEMA: configuration.schema_text(),
        registries.COMMANDS_PAGE: registries.commands_text(),
        registries.FORMATS_PAGE: registries.formats_text(),
        registries.PAPERS_PAGE: registries.papers_text(),
        registries.TABLES_PAGE: registries.tables_text(),
    }


if __name__ == "__main__":
    if IS_INSTALLED:
        sys.exit("these pages are written in a clone of the project, installed by pip install -e .")
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")

"""Writes every page of the docs that is generated, and the JSON schema of the configuration."""

from dialeval.reference import configuration, papers, prompts, python, tables

if __name__ == "__main__":
    for page in (configuration, papers, prompts, python, tables):
        page.DOCS.write_text(page.docs_text(), encoding="utf-8")
    configuration.SCHEMA.write_text(configuration.schema_text(), encoding="utf-8")

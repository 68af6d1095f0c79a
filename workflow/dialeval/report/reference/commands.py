"""The page on commands: those of `dialeval` from their parsers, and targets from the docstrings of their rules."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from importlib import import_module

from dialeval.paths import PROJECT

DOCS = PROJECT / "docs" / "command.md"
RULES = PROJECT / "rules"
HEAD = """# Commands and targets

`dialeval` prepares folders, checks configurations and reads results. `snakemake` [runs](running.md) the evaluation.
This page is generated from the commands' parsers and from the rules.
"""
EXAMPLES = {
    "init": (
        "export MY_KEY=...",
        "dialeval init study --base-url https://models.example.org/v1 --api-key-env MY_KEY "
        "--chatbot able=maker/able --chatbot swift=maker/swift --judge clerk=maker/clerk",
        "dialeval init support --dialogues support.jsonl --judge gpt=gpt-4o-2024-11-20",
    ),
    "check": ("dialeval check", "dialeval check --ask"),
    "summary": ("dialeval summary",),
    "compare": ("dialeval compare results results-2",),
    "tables": (
        "dialeval tables",
        "dialeval tables arena/ratings --columns",
        "dialeval tables arena/ratings --csv ratings.csv",
        "dialeval tables 'arena/*' 'judgements/*' --to my-dataset",
    ),
}
TARGETS = """## Targets of `snakemake`

`snakemake --cores 8` makes everything in the configuration. A target makes one part. Put the target before
`--configfile` and `--config`.

| command | result |
|---|---|
"""
ARGUMENTS = {
    "check": "--profile profiles/slurm",
    "compare": "--cores 1 --config run_a=results run_b=results-2",
    "annotation_pages": "--cores 2 --configfile configs/labels.yaml",
}
"""What is typed behind a target that needs more than a number of cores."""
_RULE = re.compile(r"^(?:use rule \w+ as (\w+) with|rule (\w+)):\n((?:    .*\n|\n)+)", re.MULTILINE)
_DOCSTRING = re.compile(r'^    """(.*?)"""', re.MULTILINE | re.DOTALL)
_NO_OUTPUT = "    output:\n        [],\n"


def docs_text() -> str:
    """Return the page: a section for each command of `dialeval`, and a table of targets."""
    main = import_module("dialeval.cli.main")  # commands lie above reports: the page describes them and uses nothing
    sections = [_section(name, main.add_options) for name in main.COMMANDS]
    rows = [f"| `snakemake {name} {ARGUMENTS.get(name, '--cores 2')}` | {words} |\n" for name, words in targets()]
    return "\n".join([HEAD, *sections, TARGETS + "".join(rows)])


def targets() -> Iterator[tuple[str, str]]:
    """Yield every target that a person types, with its rule's docstring."""
    for path in sorted(RULES.glob("*.smk")):
        for copy, name, body in _RULE.findall(path.read_text(encoding="utf-8")):
            words = _DOCSTRING.search(body)
            has_output = _NO_OUTPUT not in body if copy else "    output:" in body
            if words and not has_output and name not in ("all", "stage"):
                yield copy or name, words[1]


def _section(name: str, add_options: Callable[[str, argparse.ArgumentParser], None]) -> str:
    parser = argparse.ArgumentParser()
    add_options(name, parser)
    about = " ".join(text for text in (parser.description, parser.epilog) if text)
    rows = "".join(
        f"| `{' '.join([*action.option_strings, _value(action)]).strip()}` | {action.help} |\n"
        for action in parser._actions
        if action.dest != "help"
    )
    lines = "\n".join(EXAMPLES[name])
    return f"## `dialeval {name}`\n\n{about}\n\n```bash\n{lines}\n```\n\n| argument | meaning |\n|---|---|\n{rows}"


def _value(action: argparse.Action) -> str:
    return "" if action.nargs == 0 else str(action.metavar)

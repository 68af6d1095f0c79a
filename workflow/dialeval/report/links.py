"""Where a number's cases are: the address at which the viewer shows what stands behind a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from dialeval.figures.metaeval_names import ALL, AVERAGE
from dialeval.report.numbers import is_missing
from dialeval.report.parts import SELFCHAT
from dialeval.report.protocols import AskedProtocol
from dialeval.schemas.differences import scope

DIALOGUES, RATED, CHOICES, DAMAGED = "dialogues", "rated", "choices", "damaged"
"""The kinds of cases: dialogues of systems, rated items, test items with options, items before and after damage."""
_NO_CRITERION = (ALL, AVERAGE)
_ALL = "all"  # the scope of what is compared on everything
_MEAN = "mean"  # of the domains of a group
_PRINTED = "published"  # what a paper prints, of which there are no cases


def to_cases(kind: str, group: str = "", case: str = "", **facets: str | tuple[str, ...]) -> str:
    """Returns the address of cases, without `#`.

    Args:
        kind: of the cases.
        group: the source, corpus, task or damage that they are of; empty for any.
        case: one of them; empty for the first.
        facets: what they must have; several values of one stand beside each other.
    """
    fields = {"cases": kind, "of": group, "case": case, **facets}
    written = {name: (value,) if isinstance(value, str) else value for name, value in fields.items()}
    return "&".join(
        f"{name}={','.join(quote(value, safe='') for value in values)}"
        for name, values in written.items()
        if any(values)
    )


def of_systems(protocol: AskedProtocol, row: Mapping[str, Any]) -> str:
    """Returns the address of the dialogues behind a row of a protocol's table; empty where it is about nobody."""
    judge, system = _text(row, "judge"), _text(row, "system") or _text(row, "first")
    opponent = _text(row, "opponent") or _text(row, "versus") or _text(row, "second")
    if not system and not judge:
        return ""
    return to_cases(
        DIALOGUES,
        protocol.sources[0] if len(protocol.sources) == 1 else "",
        _text(row, "case_id"),
        system=system,
        opponent=_text(row, "opponent") if protocol.form == "pair" else "",
        protocol=_asked(protocol, row),
        judge=judge,
        models=(system, opponent) if opponent else (),
    )


def of_chats(row: Mapping[str, Any]) -> str:
    """Returns the address of a chatbot's own dialogues; empty for a row about no model."""
    model = _text(row, "model")
    return to_cases(DIALOGUES, SELFCHAT, models=model) if model else ""


def _asked(protocol: AskedProtocol, row: Mapping[str, Any]) -> str:
    """Returns what a row's question is called where cases are filtered by it; empty where it is several."""
    scoped = _text(row, "scope").partition(", ")[0]
    criterion, n = _text(row, "criterion") or ("" if scoped == _ALL else scoped), row.get("n_utterances")
    lengths = (*protocol.lengths, *protocol.at)
    name = f"{protocol.name}: {criterion}" if protocol.form == "mark" and criterion else protocol.name
    if is_missing(n):  # tables of places and differences say it in words
        n = next((one for one in lengths if _text(row, "scope") == scope({"n_utterances": one})), None)
    if n in lengths:
        return f"{name}/{n}"
    return "" if protocol.lengths else name


def of_unread(sources: tuple[str, ...], system: str, judge: str | None) -> str:
    """Returns the address of the dialogues of a system about which a verdict could not be read."""
    if not sources:
        return ""
    group = sources[0] if len(sources) == 1 else ""
    return to_cases(DIALOGUES, group, system=system, outcome="none", judge=judge or "")


def of_ratings(row: Mapping[str, Any]) -> str:
    """Returns the address of the rated items behind a row about a judge, or two, or a corpus; else nothing."""
    judge = scorer(_text(row, "judge") or _text(row, "first"), _text(row, "method") or _text(row, "first_method"))
    criterion = _text(row, "dimension")
    if not judge:
        return to_cases(RATED, _text(row, "corpus")) if _text(row, "corpus") else ""
    return to_cases(RATED, _text(row, "corpus"), judge=judge, criterion="" if criterion in _NO_CRITERION else criterion)


def of_damage(row: Mapping[str, Any]) -> str:
    """Returns the address of the damaged items behind a row about a judge, or two, or a damage; else nothing."""
    judge = scorer(_text(row, "judge"), _text(row, "method")) or _text(row, "first")
    if not judge:
        return to_cases(DAMAGED, _text(row, "strategy")) if row.get("n_pairs") else ""
    return to_cases(DAMAGED, _text(row, "strategy"), judge=judge, criterion=_text(row, "dimension"))


def of_answers(row: Mapping[str, Any]) -> str:
    """Returns the address of the test items behind a row about a model, or two; empty for any other row."""
    model = scorer(_text(row, "model"), _text(row, "method")) or _text(row, "first")
    if not model or row.get("method") == _PRINTED:
        return ""
    task = _text(row, "name") if _text(row, "scope") == "task" else ""
    domain = _text(row, "domain")
    return to_cases(CHOICES, task, model=model, domain="" if domain == _MEAN else domain)


def scorer(judge: str, method: str) -> str:
    """Returns how a judge, or a model that takes a test, is called together with its method."""
    return f"{judge} ({method})" if judge and method else judge


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""

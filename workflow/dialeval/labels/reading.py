"""Reading label files: every label checked against its question, its scale, its draw and the protocols of the run.

A label of 5 of 7 differs from 5 of 10 although the number fits both scales, so that scale and question of a label are
compared with those of now. Files without a question, as earlier pages saved them, are not compared.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialeval.corpora.text_files import number_in
from dialeval.criteria import SHIPPED, Criterion
from dialeval.errors import UserError, nearest
from dialeval.labels.answers import UnreadableLabelError, is_on_numbers, read_label
from dialeval.labels.draw import inclusion_probabilities
from dialeval.labels.exports import RawLabel, read_export, read_json
from dialeval.labels.labelled_protocol import (
    Found,
    GoneUnitError,
    LabelledProtocol,
    UnknownUnitError,
    unlabelled_strata,
)
from dialeval.labels.ledger import Ledger
from dialeval.labels.sheets import options_text, place_on_sheet, questions_of
from dialeval.labels.spreadsheets import label_files, read_filled, read_json_table
from dialeval.labels.units import SheetQuestion, identity_columns

_CHANCE = math.log(1e9)
"""Logarithm of the number of possible orders from which a sorted order is no coincidence."""
MOST_FAULTS = 30
"""Faults that one message lists; of further ones it gives the number."""
_Answer = tuple[str, str, object, str, int]
"""Protocol, criterion, unit, annotator and round identify one answer."""


@dataclass
class Reading:
    """Rows and notes from the files of labels.

    Attributes:
        rows: of the table `labels/labels`.
        notes: lines for the log.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_labels(
    files: Iterable[Path],
    protocols: Mapping[str, LabelledProtocol],
    annotators: Sequence[str] = (),
    simulated: Collection[str] = (),
) -> Reading:
    """Read files of labels.

    Args:
        files: exports of pages and tables.
        protocols: protocols with human labels, by name.
        annotators: names in the configuration.
        simulated: names of the simulated annotators.

    Raises:
        UserError: one message with all faults: file, row, value and remedy.
    """
    reading, checked = Reading(), _Checked()
    checked.spellings = {_folded(name): name for name in annotators}
    criteria = {name for protocol in protocols.values() for name in protocol.criteria}
    for path in files:
        raw: list[RawLabel] = []
        try:
            raw.extend(_labels_in(path, criteria, reading.notes.append, checked.faults.append))
        except UserError as error:
            checked.faults.append(str(error).replace(str(path), path.name))
        _check_file(raw, protocols, checked)
    if checked.faults:
        raise UserError(_message(checked.faults))
    for name, count in checked.gone.items():
        reading.notes.append(f"{count} labels under {name} are left out, since their dialogues no longer exist")
    for (file, is_same), count in checked.repeated.items():
        where = "twice there" if is_same else "in another export too"
        reading.notes.append(f"{file}: {count} answers occur {where}, and count once")
    for name, protocol in protocols.items():
        labelled = {found.key for raw, found, answer in checked.labels.values()
                    if answer["protocol"] == name and not raw.skipped}  # fmt: skip
        reading.notes += filter(None, [unlabelled_strata(protocol, labelled)])
    reading.rows = list(_rows(checked, protocols, simulated))
    return reading


def check_ledger_exists(folder: Path, protocol: str, ledger: Ledger) -> None:
    """Refuse to draw a new sample beside the labels of an earlier one.

    The ids of samples follow from the random seed, so these labels would count as labels of the new sample.

    Raises:
        UserError: the ledger is missing, and a file in the folder has labels from its labelling pages.
    """
    for path in () if ledger.entries else label_files(folder):
        try:
            raw = list(_labels_in(path, (), lambda _: None, lambda _: None))
        except UserError:  # `read_labels` reports it
            continue
        if any(one.protocol == protocol and one.draw and one.label for one in raw):
            raise UserError(
                f"{ledger.path} is missing, and {path.name} has labels from a page of its sample. Restore it from the "
                f"folder in which the page was created, or set labels.path to another folder for a new sample"
            )


@dataclass
class _Checked:
    """Valid labels and the faults of the others.

    Attributes:
        labels: by answer, the label, its unit and its columns of the table.
        faults: messages with file, row and remedy.
        gone: by protocol, number of labels of units that no longer exist.
        repeated: number of duplicate answers, by file and whether both are in it.
        spellings: of annotators' names, as first met.
    """

    labels: dict[_Answer, tuple[RawLabel, Found, dict[str, Any]]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    gone: Counter[str] = field(default_factory=Counter)
    repeated: Counter[tuple[str, bool]] = field(default_factory=Counter)
    spellings: dict[str, str] = field(default_factory=dict)


def _labels_in(
    path: Path, criteria: Collection[str], note: Callable[[str], None], fault: Callable[[str], None]
) -> Iterator[RawLabel]:
    """Return the answers of a file: a table, a page's export, or that of another tool."""
    if path.suffix.lower() != ".json":
        return read_filled(path, criteria, note, fault)
    meanings = read_json(path)
    return (
        read_json_table(path, meanings, criteria, note, fault)
        if isinstance(meanings, list)
        else read_export(path, meanings)
    )


def _check_file(raw: Sequence[RawLabel], protocols: Mapping[str, LabelledProtocol], checked: _Checked) -> None:
    meanings: set[str] = set()
    for one in raw:
        fault = _check(one, protocols, checked)
        if fault and fault not in meanings:  # a fault of a file is reported once
            meanings.add(fault)
            checked.faults.append(fault)
    checked.faults += _sorted_alone(raw, protocols)


def _sorted_alone(raw: Sequence[RawLabel], protocols: Mapping[str, LabelledProtocol]) -> Iterator[str]:
    """Yield sheets whose labels are sorted while their dialogues are not.

    Dialogues on a sheet are in random order: so many sorted labels are no coincidence.
    """
    rows: defaultdict[tuple[str, str], list[tuple[int, tuple[bool, float, str]]]] = defaultdict(list)
    for one in raw:
        name = _protocol_of(one, protocols)
        key = protocols[name].key_drawn(one.key) if name else ""
        if name and key and one.label and not one.exported and not one.round:
            number = number_in(one.label)
            value = (number is None, number or 0.0, one.label.casefold())
            rows[name, one.annotator].append((place_on_sheet(one.annotator, key), value))
    for (_, annotator), placed in rows.items():
        places, labels = [place for place, _ in placed], [label for _, label in placed]
        counts = Counter(labels).values()
        orders = math.lgamma(len(labels) + 1) - sum(math.lgamma(count + 1) for count in counts)
        if places == sorted(places) and orders > _CHANCE and labels in (sorted(labels), sorted(labels, reverse=True)):
            yield (
                f"{raw[0].file}: the {len(labels)} labels of '{annotator:.60}' are sorted, and the dialogues in "
                f"their rows are not: the column of labels was sorted without the others; undo that (if every label "
                f"is right, sort the rows by key)"
            )


def _check(raw: RawLabel, protocols: Mapping[str, LabelledProtocol], checked: _Checked) -> str:
    """Add a label, or return the mistake in it."""
    name = _protocol_of(raw, protocols)
    if raw.is_open:
        fault = protocols[name].shown_fault(raw) if name else ""
        return f"{raw.where}: {fault}" if fault else ""
    if fault := _annotator_fault(raw, checked.spellings):
        return fault
    if name is None:
        return _protocol_fault(raw, protocols)
    protocol = protocols[name]
    if fault := _design_fault(raw, protocol):
        return fault
    if fault := protocol.shown_fault(raw):
        return f"{raw.where}: {fault}"
    try:
        criterion = protocol.criterion(raw)
        if fault := _scale_fault(raw, protocol, criterion):
            return fault
        found = protocol.find(raw, criterion)
        if raw.key and not raw.skipped and (fault := questions_fault(raw, protocol, criterion, found)):
            return f"{raw.file}: {fault}"
        answer = read_label(raw, protocol.question, criterion, found.unit, found.shown)
    except GoneUnitError:
        checked.gone[name] += 1
        return ""
    except (UnknownUnitError, UnreadableLabelError) as error:
        return f"{raw.where}: {error}"
    if fault := _probability_fault(raw, protocol, found):
        return fault
    return _take(raw, name, criterion, found, answer, checked)


def _take(
    raw: RawLabel, name: str, criterion: Criterion | None, found: Found, answer: dict[str, Any], checked: _Checked
) -> str:
    about = criterion.name if criterion else ""
    key = (name, about, found.unit.identity, raw.annotator, raw.round)
    before = checked.labels.get(key)
    if before is None:
        checked.labels[key] = (raw, found, {"protocol": name, "criterion": about or None, **answer})
        return ""
    other = before[0]
    same = (before[2], other.skipped) == ({"protocol": name, "criterion": about or None, **answer}, raw.skipped)
    if same and raw.key and other.key and (raw.file != other.file or not raw.exported):
        checked.repeated[raw.file, raw.file == other.file] += 1  # browsers save a page's export twice
        return ""
    return (
        f"{raw.where}: '{raw.annotator}' already labelled {found.unit.words} in {other.where}; keep one of the "
        f"two{' files' if raw.exported else ', or number a second labelling in a column round'}"
    )


def _annotator_fault(raw: RawLabel, spellings: dict[str, str]) -> str:
    if not raw.annotator:
        return f"{raw.where}: no annotator; write the annotator's name"
    if not raw.annotator.isprintable():
        return f"{raw.file}: the annotator's name {raw.annotator!r:.60} has a line break or control character"
    known = spellings.setdefault(_folded(raw.annotator), raw.annotator)
    if known != raw.annotator:
        return (
            f"{raw.file}: annotator '{raw.annotator:.60}' is written '{known:.60}' elsewhere; if they are one "
            f"person, write the name in one way, otherwise choose names that differ in more than case and blanks"
        )
    return ""


def _protocol_of(raw: RawLabel, protocols: Mapping[str, LabelledProtocol]) -> str | None:
    """Return a label's protocol: by its column, key or file name, else the only one or the only one that fits."""
    if raw.protocol:
        return raw.protocol if raw.protocol in protocols else None
    of_key = [name for name, protocol in protocols.items() if raw.key and raw.key in protocol.known_keys]
    if len(of_key) == 1 or len(protocols) == 1:
        return (of_key or list(protocols))[0]
    named = [name for name in protocols if raw.file.startswith((f"{name}-", f"{name}."))]
    if not named and raw.criterion:
        about = raw.criterion.casefold()
        fitting = [name for name, protocol in protocols.items() if about in map(str.casefold, protocol.criteria)]
        return fitting[0] if len(fitting) == 1 else None
    return max(named, key=len, default=None)


def _protocol_fault(raw: RawLabel, protocols: Mapping[str, LabelledProtocol]) -> str:
    if raw.protocol:
        return (
            f"{raw.file}: '{raw.protocol:.60}' is not a protocol with labels; {nearest(raw.protocol, protocols)} "
            "(labels.protocols in the configuration lists them), or remove the file"
        )
    return (
        f"{raw.file}: the protocol of the labels is not known; add a column 'protocol' with one of "
        f"{', '.join(protocols)}, or begin the file's name with it"
    )


def _scale_fault(raw: RawLabel, protocol: LabelledProtocol, criterion: Criterion | None) -> str:
    """Return the fault of a page or sheet with another scale of numbers than the configured one; empty without one."""
    if (
        criterion is None
        or not (raw.key and raw.options)
        or not is_on_numbers(protocol.question.protocol.form, criterion)
    ):
        return ""
    fault = scales_fault(raw.options, criterion)
    return f"{raw.file}: {fault}" if fault and not raw.skipped else ""


def _design_fault(raw: RawLabel, protocol: LabelledProtocol) -> str:
    """Return the fault of a page or sheet of another draw than the one on record; empty without one."""
    if not raw.key:
        return ""
    ledger = protocol.ledger
    if not ledger.entries:
        return (
            f"{raw.file}: this file was exported from a labelling page, but the record of the sample "
            f"{ledger.path.name} is missing. Restore it from the folder in which the page was created, then run the "
            "same command again"
        )
    if raw.draw and raw.draw not in ledger.draws().values():
        return (
            f"{raw.file} belongs to another sample, {raw.draw:.40}; {ledger.path.name} has "
            f"{' and '.join(sorted(set(ledger.draws().values())))}: label on pages of this sample, or restore the "
            f"record of the other sample"
        )
    return ""


def _probability_fault(raw: RawLabel, protocol: LabelledProtocol, found: Found) -> str:
    if raw.probability:
        number = number_in(raw.probability)
        if number is None or not 0 < number <= 1:
            return f"{raw.where}: probability is '{raw.probability:.40}'; write a number above 0 and up to 1"
        return ""
    is_drawn = bool(found.key) and protocol.ledger.entries[found.key].drawn
    if raw.sampled and not is_drawn:
        return (
            f"{raw.where}: probability is empty, and {found.unit.words} was not drawn; write its inclusion "
            f"probability, or remove the column if all probabilities are equal"
        )
    if protocol.ledger.entries and not is_drawn:
        return (
            f"{raw.where}: {found.unit.words} was not drawn, and labels of selected items are no random sample; "
            "remove the row, or give its inclusion probability in a column 'probability'"
        )
    return ""


def _rows(
    checked: _Checked, protocols: Mapping[str, LabelledProtocol], simulated: Collection[str]
) -> Iterator[dict[str, Any]]:
    probabilities = _inclusion_probabilities_of_labels(checked, protocols)
    for raw, found, answer in checked.labels.values():
        drawn = probabilities.get((answer["protocol"], answer["criterion"], found.key))
        own = number_in(raw.probability) if raw.probability else None
        yield {
            **identity_columns(found.unit.identity),
            "annotator": raw.annotator,
            "simulated": raw.annotator in simulated,
            "round": raw.round,
            "skipped": raw.skipped,
            "comment": raw.comment,
            "probability": own if drawn is None else drawn,
            "stratum": None if drawn is None else _stratum(found, protocols[answer["protocol"]]),
            "file": raw.file,
            "row": raw.row,
            **answer,
        }


def _inclusion_probabilities_of_labels(
    checked: _Checked, protocols: Mapping[str, LabelledProtocol]
) -> dict[tuple[str, str | None, str], float]:
    """Return the labelled share of the stratum of each drawn key, by protocol and criterion.

    Annotators who stop before the end have labelled a random part of what was drawn, as their order is random; so the
    share with a label is what the drawn share would have been. Strata without a label have none.
    """
    labelled: defaultdict[tuple[str, str | None], set[str]] = defaultdict(set)
    drawn: list[tuple[str, str | None, str]] = []
    for raw, found, answer in checked.labels.values():
        name, criterion = answer["protocol"], answer["criterion"]
        if found.key and protocols[name].ledger.entries[found.key].drawn:
            drawn.append((name, criterion, found.key))
            if not raw.skipped:
                labelled[name, criterion].add(found.key)
    probabilities = {
        (name, criterion): inclusion_probabilities(
            [protocols[name].ledger.entries[key] for key in protocols[name].units], keys
        )
        for (name, criterion), keys in labelled.items()
    }
    found_for = {of: probabilities.get(of[:2], {}).get(of[2], 0.0) for of in drawn}
    return {of: probability for of, probability in found_for.items() if probability > 0.0}


def _stratum(found: Found, protocol: LabelledProtocol) -> str:
    entry = protocol.ledger.entries[found.key]
    return f"{entry.level} {entry.stratum}"


def _message(faults: Sequence[str]) -> str:
    shown = ["  " + fault.replace("\n", "\\n") for fault in faults[:MOST_FAULTS]]  # a value may have lines of its own
    more = [f"  and {len(faults) - MOST_FAULTS} more"] * (len(faults) > MOST_FAULTS)
    what = "a mistake" if len(faults) == 1 else f"{len(faults)} mistakes"
    return "\n".join([f"the labels have {what}; the files are unchanged:", *shown, *more])


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


_NUMBER = r"(-?\d+(?:\.\d+)?(?:e\+?\d+)?)"
_ENDS = re.compile(f"a number from {_NUMBER} to {_NUMBER}")
_POINTS = re.compile(f"{_NUMBER}(?=$|; | \\()")
_FURTHER = re.compile(r"; -?[0-9.]+(?=$|; | \()")
"""One more number to choose."""


def scales_fault(options: str, criterion: Criterion) -> str:
    """Return the fault of answers that are not those of the criterion's scale of numbers; empty without one.

    Answers that are neither numbers nor a range of numbers are not compared.

    Args:
        options: the answers as the page or sheet has them, `1 (very poor); 2; 3` or `a number from 1 to 100`.
        criterion: the criterion of the label.
    """
    scale = criterion.scale
    now = _between(scale.low, scale.high)
    ends = _ENDS.fullmatch(options)
    is_now = _between(*map(float, ends.groups())) == now if ends else _are(options, list(scale.points()))
    if is_now or not (ends or _POINTS.match(options)):
        return ""
    return (
        f"it was labelled on the scale {options!r:.100} of {criterion.name}, and the scale is now {now}; restore "
        f"the scale under criteria, or remove these labels and label again"
    )


def questions_fault(raw: RawLabel, protocol: LabelledProtocol, criterion: Criterion | None, found: Found) -> str:
    """Return the fault of a label whose question differs from the configured one; empty without one.

    Args:
        raw: the label, with the question of its page or sheet if it has one.
        protocol: the protocol with its units.
        criterion: the criterion of the label.
        found: the unit.
    """
    now = _questions_now(protocol, criterion, found)
    remedy = "remove these labels and label again; if both questions mean the same, write the present one into the file"
    if protocol.instead or criterion is None:
        remedy = f"restore the question under labels.questions, or {remedy}"
    elif criterion.name not in SHIPPED:
        remedy = f"restore the question under criteria.{criterion.name}, or {remedy}"
    if raw.question and _folded(raw.question) not in {_folded(one.text) for one in now}:
        return (
            f"its annotators read the question {raw.question!r:.300}, and the question is now {now[0].text!r:.300}; "
            f"{remedy}"
        )
    for rubric in filter(None, (raw.rubric, raw.options)):
        meanings = [_meanings(rubric, [option.label for option in one.options]) for one in now]
        if any(meanings) and all(
            meanings is not None and meanings != [_folded(option.meaning) for option in one.options]
            for meanings, one in zip(meanings, now, strict=True)
        ):
            return f"its answers meant {rubric!r:.300}, and now mean {options_text(now[0])!r:.300}; {remedy}"
    return ""


def _questions_now(protocol: LabelledProtocol, criterion: Criterion | None, found: Found) -> list[SheetQuestion]:
    """Return the present questions in every language of the criterion."""
    languages: Collection[str] = dict.fromkeys(
        [found.unit.language, "en", *(criterion.translations if criterion else ())]
    )
    criteria = [criterion] if criterion else []
    return [
        question
        for language in languages
        for question in questions_of(protocol.question, criteria, found.unit.level, language, protocol.instead)
    ]


def _meanings(options: str, labels: Sequence[str]) -> list[str] | None:
    """Return the meanings of the answers; None if `options` has other answers or no meanings."""
    form = "; ".join(rf"{re.escape(label)}(?: \((.*?)\))?" for label in labels)
    match = re.fullmatch(form, options, re.DOTALL) if labels else None
    return [_folded(one or "") for one in match.groups()] if match and any(match.groups()) else None


def _between(low: float, high: float) -> str:
    return f"a number from {low:g} to {high:g}"


def _are(options: str, points: Sequence[str]) -> bool:
    """Return whether the answers are `points`, in order, with or without meanings."""
    place = 0
    for number, point in enumerate(points):
        mark = re.compile(f"{'; ' if number else '^'}{re.escape(point)}(?=$|; | \\()")
        found = mark.search(options, place)
        if found is None:
            return False
        place = found.end()
    return bool(points) and (place == len(options) or _FURTHER.search(options, place) is None)

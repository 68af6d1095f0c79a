"""What people can be asked about is what judges are asked about, under the same ids."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from judged_dialogues import shipped_question
from labelled_dialogues import dialogue, dialogues, items_table, protocol_settings

from dialeval.corpora.items import Item, iterate_items
from dialeval.labels.units import frame_of, key_of, keyed
from dialeval.prompts.rendering import Templates
from dialeval.protocols import locate, pair, scores
from dialeval.protocols.item_prompts import PlanSettings, item_criteria, scored_items
from dialeval.protocols.pair import by_case
from dialeval.protocols.planned_requests import Planned


def planned(settings: PlanSettings, path: Path) -> list[Planned]:
    question, about, templates = settings.question(), item_criteria(settings, ()), Templates()
    match settings.protocol.form:
        case "pair":
            return list(pair.plan(question, by_case(iterate_items(path)), templates, Counter()))
        case "locate":
            return list(locate.plan(question, iterate_items(path), templates))
        case "probability":
            return list(scores.plan_probability(question, scored_items(settings, [path]), templates, about.of_rated))
    return list(scores.plan_scale(question, scored_items(settings, [path]), templates, about.groups_of_rated))


def judged_about(one: Planned) -> tuple[Any, ...]:
    if one.right:
        assert one.left
        return (None, None, one.case_id, *sorted((one.left, one.right)), one.n_utterances)
    return one.corpus, one.item_id, one.case_id, one.left, None, one.n_utterances


@pytest.mark.parametrize(
    ("speakers", "judged", "shown"),
    [
        (("user", "assistant"), "", ["User", "Assistant"]),
        (("Customer", "gpt-4o"), "gpt-4o", ["User", "Assistant"]),  # the evaluated speaker, whose name is hidden
        (("human", "chatbot"), "", ["User", "Assistant"]),
        (("ann", "ben"), "", ["", ""]),  # a chatbot with itself: letters
        (("user", "assistant", "tool"), "", ["", "", ""]),
        (("assistant", "bot"), "", ["", ""]),
    ],
)
def test_speakers_are_user_and_assistant_if_they_are_known_as_such(
    speakers: tuple[str, ...], judged: str, shown: list[str], tmp_path: Path
) -> None:
    texts = tuple(f"utterance {number}" for number in range(len(speakers)))
    item = Item("support", "1", "en", "dialogue", "1", speakers, texts, system="v1", case_id="1", judged=judged)
    path = items_table(tmp_path / "items.parquet", [item])
    (unit,) = frame_of(protocol_settings("mine", ["overall"], form="scale"), [path]).units
    assert [turn.role for turn in unit.dialogues[0]] == shown
    assert [turn.speaker for turn in unit.dialogues[0]] == ["A", "B", "C"][: len(speakers)]


@pytest.mark.parametrize(
    ("criteria", "protocol"),
    [
        (["overall", "coherence"], {"form": "scale"}),
        (["relevance", "coherence"], {"form": "scale", "data": {"turns": "all"}}),
        ([], {"form": "scale"}),
        (["overall"], {"form": "probability"}),
        ([], {"form": "locate"}),
        (["coherence"], {"form": "locate"}),
        ([], {"form": "pair"}),
        (["coherence"], {"form": "pair", "data": {"n_utterances": [2, 4]}}),
        ([], {"form": "pair", "data": {"opponent": "kiosk"}}),
    ],
)
def test_units_are_what_requests_are_about(criteria: list[str], protocol: dict[str, Any], tmp_path: Path) -> None:
    settings = protocol_settings("mine", criteria, **protocol)
    twin = dialogue("mosaic", 1)  # a dialogue of another system, word for word
    items = [*dialogues(), Item(**{**_fields(twin), "item_id": "1/twin", "system": "twin"})]
    path = items_table(tmp_path / "items.parquet", items)
    frame = frame_of(settings, [path])
    units = [tuple(part or None for part in unit.identity[:-1]) for unit in frame.units]
    assert len(set(units)) == len(units) > 0
    assert set(units) == {judged_about(one) for one in planned(settings, path)}
    asked = {criterion.name for each in frame.criteria.values() for criterion in each}
    assert asked == set(chain.from_iterable([one.part] if one.part else one.request.labels for one in planned(
        settings, path
    ))) - ({"2", "4"} if protocol["form"] == "locate" else set())  # fmt: skip


@pytest.mark.parametrize(("name", "options"), [("arena", {"cut": [2, 4]}), ("gteval", {})])
def test_the_papers_pairs_are_the_same_too(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    question = shipped_question(name, needed=2, **options)
    settings = PlanSettings(name=name, protocol=question.protocol, shipped=True)
    said = (("A", "B", "A"), ("Hi.", "Yes?", "So."))
    people = [Item("selfchat", f"{case}/human", "en", "dialogue", case, *said, "human", case) for case in "123"]
    chats = [Item(**{**_fields(one), "corpus": "selfchat", "judged": "", "speakers": ("A", "B", "A", "B")})
             for one in dialogues(cases=3)]  # fmt: skip
    path = items_table(tmp_path / "items.parquet", [*people, *chats])
    units = {tuple(part or None for part in unit.identity[:-1]) for unit in frame_of(settings, [path]).units}
    assert units == {judged_about(one) for one in planned(settings, path)}
    assert len(units) == (3 * 3 * 2 if name == "arena" else 3 * 3)


def test_a_key_depends_on_the_words_alone(tmp_path: Path) -> None:
    settings = protocol_settings("mine", ["overall"], form="scale")
    path = items_table(tmp_path / "items.parquet", dialogues())
    units = frame_of(settings, [path]).units
    keys = keyed(units, {"dialogue": "d1"})
    assert len(keys) == len(units) == 36
    assert not any(system in key for key in keys for system in ("kiosk", "harbour", "mosaic"))
    other = items_table(tmp_path / "other.parquet", [dialogue("kiosk", 1, more=" A word more.")])
    changed = frame_of(settings, [other]).units[0]
    before = next(unit for unit in units if unit.identity == changed.identity)
    assert key_of("d1", changed) != key_of("d1", before)
    assert key_of("d2", before) != key_of("d1", before)


def test_a_systems_second_dialogue_on_a_case_is_left_out_of_pairs_in_words(tmp_path: Path) -> None:
    again = [Item(**{**_fields(one), "item_id": f"{one.item_id}/again"}) for one in dialogues(cases=1)]
    said = [Item(**{**_fields(one), "utterances": (*one.utterances[:3], f"{one.system}, again.")}) for one in again]
    path = items_table(tmp_path / "items.parquet", [*dialogues(cases=2), *said])
    frame = frame_of(protocol_settings("mine", form="pair"), [path])
    assert len(frame.units) == 2 * 3
    assert frame.skipped == {
        "a system's second dialogue on a case, which judgements do not distinguish from its first": 3
    }


def _fields(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in Item.__dataclass_fields__}

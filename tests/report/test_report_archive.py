"""The embedded dialogues and verdicts: what a browser unpacks is what the tables hold."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import report_example as example

from dialeval.html_pages import pack, unpack
from dialeval.report.archive import Archive, build_archive
from dialeval.report.inputs import ReportInputs
from dialeval.report.judgements import orders_of, score_and_disagreement
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table

PLENTY = 10_000_000


@pytest.fixture
def archive() -> Archive:
    return build_archive(example.inputs(), PLENTY)


def texts(piece: dict[str, Any], dialogue: int) -> list[str]:
    return [piece["strings"][place] for place in piece["utterances"][dialogue]]


def test_packing_keeps_every_character() -> None:
    content = {"texts": [example.HOSTILE, example.ODD, example.ARABIC, example.CHINESE, "\u2028 \x00"]}
    packed = pack(content)
    assert unpack(packed) == content
    assert packed.isascii()
    assert "<" not in packed


def test_a_piece_holds_the_human_dialogue_and_every_chatbots(archive: Archive) -> None:
    models = unpack(archive.index)["models"]
    piece = unpack(archive.dialogues[0])

    assert [models[model] for model in piece["models"]] == ["human", "able", "weak"]
    assert texts(piece, 0)[2:] == ["Then I'll hurry.", "Take the back door."]  # once, though two corpora have the id
    assert texts(piece, 1) == ["Is the shop open?", "Until six.", "Good, I'll come over.", example.HOSTILE]
    assert piece["speakers"] == ["A", "B", "A", "B"]
    assert piece["remarks"] == [[1, 3, "length", 0]]


def test_strings_stand_once(archive: Archive) -> None:
    piece = unpack(archive.dialogues[2])
    assert len(set(piece["strings"])) == len(piece["strings"])
    assert texts(piece, 2)[2:] == ["Lovely.", "Lovely."]


def test_verdicts_keep_order_choice_reason_and_status(archive: Archive) -> None:
    models = unpack(archive.index)["models"]
    piece = unpack(archive.judgements[0])
    text = [*piece["strings"], None]
    rows = [
        (text[protocol], models[left], None if right < 0 else models[right], text[choice], outcome, text[reason])
        for protocol, left, right, choice, outcome, reason in zip(
            *(piece[name] for name in ("protocol", "left", "right", "choice", "outcome", "reason")), strict=True
        )
    ]
    assert len(rows) == 7
    assert ("arena", "able", "weak", "Conversation 2", 0, "The second repeats.") in rows
    assert ("arena", "weak", "able", "Both", 2, None) in rows
    assert ("gteval", "human", "able", "Conversation 1", 1, None) in rows


def verdicts(archive: Archive, place: int) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what a piece tells of each verdict on a case, by protocol and the place of the left system."""
    piece = unpack(archive.judgements[place])
    texts = [*piece["strings"], ""]
    told = ("answer", "thoughts", "read", "facts")
    return {
        (texts[piece["protocol"][row]], piece["left"][row]): {name: texts[piece[name][row]] for name in told}
        | {name: piece[name][row] for name in ("probabilities", "prompt", "repeat")}
        for row in range(len(piece["judge"]))
    }


def sent(archive: Archive, place: int, prompt: int) -> list[tuple[str, str]]:
    piece = unpack(archive.prompts[place])
    return [(role, "".join(piece["strings"][line] for line in lines)) for role, lines in piece["prompts"][prompt]]


def test_a_verdict_comes_with_its_answer_and_what_it_took(archive: Archive) -> None:
    told = verdicts(archive, 0)["arena", 2]
    assert told["answer"] == f"Choice: Conversation 2\nReason: {example.REASONED}"
    assert told["facts"] == "1,000 tokens in, 250 out, cost 0.004"  # 1000 x 2 + 250 x 8 per million
    assert "“Choice:”" in told["read"]
    unread = verdicts(archive, 0)["unieval", 1]
    assert unread["answer"] == "Hard to say <i>really</i>."
    assert unread["thoughts"] == "Hm."
    assert unread["read"].startswith("not parsed: ")


def test_prompts_come_back_character_by_character(archive: Archive) -> None:
    prompt = verdicts(archive, 0)["unieval", 1]["prompt"]
    assert sent(archive, 0, prompt) == [
        ("system", "Be strict."),
        ("user", f"Read this.\nA: {example.HOSTILE}\n\nIs it AI?"),
    ]
    other = verdicts(archive, 1)["unieval", 2]["prompt"]
    assert sent(archive, 1, other) == [("user", f"Read this.\n{example.ARABIC} {example.ODD}\n")]
    assert verdicts(archive, 2)["unieval", 2]["prompt"] == -1


def test_lines_that_prompts_share_stand_once(archive: Archive) -> None:
    strings = unpack(archive.prompts[0])["strings"]
    assert strings.count("Read both.\n") == 1


def test_prompts_give_way_first_when_room_is_short(archive: Archive) -> None:
    without = archive.size - sum(len(line) + 1 for line in archive.prompts)
    cut = build_archive(example.inputs(), without)
    assert cut.dialogues == archive.dialogues
    assert cut.judgements == archive.judgements
    assert cut.prompts == ()
    for room, kept in ((archive.size - 1, 1), (archive.size, 2)):
        some = build_archive(example.inputs(), room)
        assert some.prompts == (*archive.prompts[:kept], *[""] * (3 - kept))
        assert some.size <= room
    assert "results/requests" in unpack(cut.index)["no_prompts"]


def test_of_many_answers_those_of_later_cases_are_referred_to_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.report.judgements.MOST_ANSWERS", 1)
    archive = build_archive(example.inputs(), PLENTY)
    assert verdicts(archive, 0)["arena", 2]["answer"]
    later = verdicts(archive, 1)["unieval", 2]
    assert (later["answer"], later["prompt"]) == ("", -1)
    assert "results/responses" in later["facts"]


def test_without_answers_at_hand_verdicts_stand_alone() -> None:
    archive = build_archive(example.inputs(exchange_source=None), PLENTY)
    told = verdicts(archive, 0)["arena", 2]
    assert (told["answer"], told["facts"], told["read"], told["prompt"]) == ("", "", "", -1)
    assert set(archive.prompts) == {""}


def test_the_index_counts_outcomes_by_seed(archive: Archive) -> None:
    index = unpack(archive.index)
    assert index["ids"] == ["MT-1", "MT-2", "MT-10"]
    named = {
        (protocol, n, index["models"][model]): outcomes
        for (_, protocol, n, model), outcomes in zip(index["cases"], index["outcomes"], strict=True)
    }
    # won, tied, lost, none, told; each the places of seeds, then their counts
    assert named["unieval", 0, "able"] == [[1, 2, 1, 1], [], [0, 1], [], []]
    assert named["unieval", 0, "weak"] == [[], [], [1, 2, 1, 1], [0, 1], []]
    # at N = 4, to which an AI that is seen from utterance 4 on belongs, and no dialogue that is shorter
    assert named["unieval", 4, "able"] == [[1, 2, 1, 1], [], [0, 1], [], []]
    assert named["arena", 4, "able"] == [[0, 1], [0, 1], [], [], []]
    assert named["gteval", 0, "able"] == [[0, 1], [], [0, 1], [], []]


def test_an_answer_about_the_whole_is_counted_at_each_length_that_it_is_read_at() -> None:
    long = {"n_utterances": 8}
    said = [
        example.verdict("unieval", "MT-1", "able", choice="Yes", place=6, **long),  # human up to the fifth
        example.verdict("unieval", "MT-2", "able", choice="No", **long),
        example.verdict("unieval", "MT-10", "able", choice="No", n_utterances=4),  # too short to count at 8
        example.verdict("unieval", "MT-1", "weak", status="unparsed", **long),
    ]
    protocols = (dataclasses.replace(example.PROTOCOLS[0], at=(4, 6, 8)),)
    index = unpack(
        build_archive(example.inputs(verdicts=to_table(JUDGEMENTS, said), protocols=protocols), PLENTY).index
    )
    found = {
        (index["models"][model], n): outcomes
        for (_, _, n, model), outcomes in zip(index["cases"], index["outcomes"], strict=True)
    }
    assert found["able", 0] == [[1, 2, 1, 1], [], [0, 1], [], []]
    assert found["able", 4] == [[0, 1, 2, 1, 1, 1], [], [], [], []]
    assert found["able", 6] == [[1, 1], [], [0, 1], [], []]
    assert found["able", 8] == [[1, 1], [], [0, 1], [], []]
    assert found["weak", 4] == [[], [], [], [0, 1], []]
    assert index["at_lengths"] == []


def test_row_order_does_not_matter(archive: Archive) -> None:
    inputs = example.inputs()
    turned = example.inputs(
        generated=inputs.generated.take(list(reversed(range(len(inputs.generated))))),
        verdicts=inputs.verdicts.take(list(reversed(range(len(inputs.verdicts))))),
    )
    assert build_archive(turned, PLENTY) == archive


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_the_first_seeds_are_kept_when_room_is_short(archive: Archive, missing: int) -> None:
    kept = 3 - missing
    dropped = [archive.dialogues[kept:], archive.judgements[kept:], archive.prompts]
    budget = archive.size - sum(len(line) + 1 for lines in dropped for line in lines)
    cut = build_archive(example.inputs(), budget)
    assert len(cut.dialogues) == len(cut.judgements) == kept
    assert cut.dialogues == archive.dialogues[:kept]
    assert unpack(cut.index)["ids"] == ["MT-1", "MT-2", "MT-10"][:kept]
    assert cut.n_seeds == 3
    assert kept == 0 or cut.size <= budget


def test_an_empty_run_packs() -> None:
    archive = build_archive(ReportInputs("A run", (), ()), PLENTY)
    assert archive.dialogues == ()
    assert unpack(archive.index)["models"] == ["human"]


def test_unlisted_models_and_judges_are_named() -> None:
    stray = example.verdict("unieval", "MT-1", "stranger", judge="guest", choice="No")
    archive = build_archive(example.inputs(verdicts=to_table(JUDGEMENTS, [stray])), PLENTY)
    index = unpack(archive.index)
    assert "stranger" in index["models"]
    assert index["judges"] == ["clerk", "guest"]


# The values that cases are sorted by.


def judgement_columns(*rows: dict[str, Any]) -> dict[str, list[Any]]:
    empty = dict.fromkeys(("criterion", "n_utterances", "right", "item_id", "choice", "outcome", "value"))
    empty |= {"protocol": "p", "left": "a", "scale_min": None, "scale_max": None}
    made = [{**empty, **row} for row in rows]
    return {name: [row[name] for row in made] for name in made[0]}


@pytest.mark.parametrize(
    ("rows", "score", "disagreement"),
    [
        ([{"value": 5.0, "scale_min": 1.0, "scale_max": 5.0}], 1.0, None),
        ([{"value": value, "scale_min": 1.0, "scale_max": 5.0} for value in (1.0, 3.0)], 0.25, 0.5),
        ([{"choice": "Yes"}, {"choice": "No"}, {"choice": None}], 0.5, 1.0),
        ([{"choice": "Yes", "criterion": "rude"}], None, None),  # an annotation is no score
        ([{"value": 3.0, "scale_min": 3.0, "scale_max": 3.0}], None, None),
        ([{"right": "b", "outcome": "left"}, {"left": "b", "right": "a", "outcome": "right"}], None, 0.0),
        ([{"right": "b", "outcome": "left"}, {"left": "b", "right": "a", "outcome": "left"}], None, 1.0),
        ([{"right": "b", "outcome": "tie"}, {"right": "b", "outcome": None}], None, None),
    ],
)
def test_a_case_has_the_mean_score_and_the_range_of_judgements_of_one_question(
    rows: list[dict[str, Any]], score: float | None, disagreement: float | None
) -> None:
    assert score_and_disagreement(judgement_columns(*rows)) == (score, disagreement)


def test_an_order_in_which_all_cases_are_equal_is_left_out() -> None:
    assert orders_of(("length", "score"), [(3, 0.5), (4, 0.5), (4, None)]) == [["length", [3, 4, 4]]]
    assert orders_of(("length",), []) == []

"""Logs and exports of other tools; those in `exports` were written by the tools (see `exports/write.py`)."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.items import Item
from dialeval.corpora.transcripts.items import Options, TranscriptItems, read_items
from dialeval.corpora.transcripts.readers import detect_format, read, source_files
from dialeval.errors import UserError

EXPORTS = Path(__file__).parent / "exports"
PROMPT = "You are a librarian."
DESK = [("user", "When do you open?"), ("assistant", "We open at 9."), ("user", "Until when?")]
DESK.append(("assistant", "Until 5, on Sundays until 3."))


def reading(path: Path, **options: Any) -> TranscriptItems:
    return read_items("mine", path, Options(**options))


def turns_of(item: Item) -> list[tuple[str, str]]:
    return list(zip(item.speakers, item.utterances, strict=True))


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        reading(path, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


# traces


@pytest.mark.parametrize(
    ("name", "kind", "ids", "system"),
    [
        ("langfuse.json", "langfuse", ["session-1"], "heron"),
        ("langsmith.jsonl", "langsmith", ["thread-1", "thread-2"], "heron"),
        ("openllmetry.json", "opentelemetry", None, "heron"),
        ("openinference.json", "opentelemetry", None, "heron-1"),
    ],
)
def test_calls_of_a_conversation_are_one_dialogue(name: str, kind: str, ids: list[str] | None, system: str) -> None:
    found = reading(EXPORTS / name)
    assert detect_format(EXPORTS / name) == kind
    assert {item.system for item in found.items} == {system}
    assert ids is None or [item.item_id.partition("/")[0] for item in found.items] == ids
    assert [turns_of(item) for item in found.items] == [DESK] * len(found.items)
    assert {item.judged for item in found.items} == {"assistant"}
    assert [row["text"] for row in found.hidden_messages] == [PROMPT]  # the second thread of LangSmith has none


def test_spans_without_messages_name_the_remedy() -> None:
    words = refused(EXPORTS / "opentelemetry.json")
    assert "3 spans, but no messages" in words
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in words


def test_a_trace_without_a_root_text_is_its_model_calls(tmp_path: Path) -> None:
    (trace, other) = json.loads((EXPORTS / "langfuse.json").read_text(encoding="utf-8"))["data"]
    for one in (trace, other):
        one |= {"input": {"nr": 7, "state": [1]}, "output": None, "release": "v2"}
    (item,) = reading(write(tmp_path / "t.json", [trace, other]), columns={"system": "release"}).items
    assert turns_of(item) == DESK
    assert item.system == "v2"
    calls = [call | {"traceId": "t"} for one in (other, trace) for call in one["observations"]]
    (item,) = reading(write(tmp_path / "calls.json", {"data": calls, "meta": {}})).items
    assert (turns_of(item), item.item_id) == (DESK, "t/heron")


def test_flat_attributes_and_tool_calls_are_read(tmp_path: Path) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "reed",
        "gen_ai.conversation.id": "c7",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Where is it?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "In Ulm.",
    }
    parts = [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "One moment."}]
    parts.append({"type": "tool_call", "name": "find", "arguments": {"order": 7}})  # type: ignore[dict-item]
    later = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "reed",
        "gen_ai.conversation.id": "c7",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be kind."}]),
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "And now?"}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
    }
    spans = [
        {
            "traceId": f"t{n}",
            "startTimeUnixNano": f"{n}",
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in one.items()],
        }
        for n, one in enumerate((attributes, later))
    ]
    found = reading(write(tmp_path / "s.json", {"resourceSpans": [{"scopeSpans": [{"spans": spans[::-1]}]}]}))
    (item,) = found.items
    assert turns_of(item) == [
        ("user", "Where is it?"), ("assistant", "In Ulm."), ("user", "And now?"), ("assistant", "One moment.")
    ]  # fmt: skip
    assert [(row["kind"], row["text"]) for row in found.hidden_messages] == [
        ("system", "Be kind."), ("reasoning", "Hm."), ("tool_call", 'find({"order": 7})')
    ]  # fmt: skip


# logs of evaluations


@pytest.mark.parametrize("name", ["inspect.eval", "inspect.json"])
def test_an_inspect_log_has_a_dialogue_for_each_sample_and_epoch(name: str) -> None:
    found = reading(EXPORTS / name)
    items = {item.item_id.removesuffix("/mockllm/model"): item for item in found.items}
    assert {item_id: item.case_id for item_id, item in items.items()} == {
        "hours": "hours", "birds": "birds", "hours-epoch-2": "hours", "birds-epoch-2": "birds"
    }  # fmt: skip
    assert turns_of(items["birds"])[-2:] == [("user", "Is there a heron?"), ("assistant", "Yes, by the pond.")]
    assert Counter(row["kind"] for row in found.hidden_messages) == {"system": 2, "tool_call": 2, "tool_result": 2}
    assert any(row["text"] == 'opening_hours({"day": "Monday"})' for row in found.hidden_messages)


def test_samples_with_an_error_and_unfinished_logs_are_counted(tmp_path: Path) -> None:
    log = json.loads((EXPORTS / "inspect.json").read_text(encoding="utf-8"))
    log["samples"][0]["error"] = {"message": "timed out"}
    log["status"] = "error"
    found = reading(write(tmp_path / "log.json", log))
    assert len(found.items) == 3
    assert "1 sample that ended with an error left out" in found.notes
    assert "1 log of runs that were not finished, such as log.json" in found.notes
    assert "has no samples; run the evaluation with samples" in refused(
        write(tmp_path / "log.json", log | {"samples": []})
    )
    assert "no text 'model' in 'eval'" in refused(write(tmp_path / "log.json", log | {"eval": {}}), reader="inspect")


def test_a_damaged_inspect_archive_names_the_remedy(tmp_path: Path) -> None:
    whole = (EXPORTS / "inspect.eval").read_bytes()
    log = tmp_path / "log.eval"
    log.write_bytes(whole[:-2000])
    assert "inspect log convert" in refused(log)
    with zipfile.ZipFile(EXPORTS / "inspect.eval") as archive:
        part = archive.getinfo("samples/birds_epoch_1.json")
    log.write_bytes(whole[: part.header_offset + 120] + b"xxxx" + whole[part.header_offset + 124 :])
    assert "cannot be read as Inspect's log" in refused(log)
    with zipfile.ZipFile(log, "w") as archive:
        archive.writestr("other.json", "{}")
    assert "zip archive" in refused(log)
    log.write_bytes(b"PK\x03\x04")
    assert "cannot be read as Inspect's log" in refused(log)


def test_a_folder_of_inspect_logs_is_read_as_one(tmp_path: Path) -> None:
    shutil.copy(EXPORTS / "inspect.eval", tmp_path / "one.eval")
    assert [file.name for file in source_files("auto", tmp_path)] == ["one.eval"]
    assert len(reading(tmp_path).items) == 4


def test_lm_eval_samples_are_of_the_model_that_results_name(tmp_path: Path) -> None:
    found = reading(EXPORTS / "lm_eval")
    assert [(item.item_id, item.case_id) for item in found.items] == [
        ("desk-0/desk-1", "desk-0"), ("desk-1/desk-1", "desk-1")
    ]  # fmt: skip
    assert turns_of(found.items[0]) == [("user", "When do you open?"), ("assistant", "lol")]
    assert "2 samples of choice without generated text, skipped" in found.notes
    assert "only tasks with output_type generate_until" in refused(EXPORTS / "lm_eval" / "samples_choice_1.jsonl")
    shutil.copy(EXPORTS / "lm_eval" / "samples_desk_1.jsonl", tmp_path / "samples_desk_1.jsonl")
    assert "have no system" in refused(tmp_path / "samples_desk_1.jsonl")
    files = source_files("auto", EXPORTS / "lm_eval" / "samples_desk_1.jsonl")
    assert [file.name for file in files] == ["samples_desk_1.jsonl", "results_1.json"]
    assert {item.system for item in reading(tmp_path / "samples_desk_1.jsonl", system="x").items} == {"x"}


def test_lm_eval_prompts_of_chat_models_and_several_responses(tmp_path: Path) -> None:
    chat = json.dumps([{"role": "system", "content": PROMPT}, {"role": "user", "content": "Is it open?"}])
    sample = {"doc_id": 3, "doc": {}, "filter": "none", "arguments": [[[chat], {}]], "resps": [["Yes.", "No."]]}
    path = tmp_path / "samples_desk_1.jsonl"
    path.write_text("\n".join(map(json.dumps, [sample, sample | {"filter": "strict"}])), encoding="utf-8")
    found = reading(path, system="x")
    assert [(item.item_id, turns_of(item)[-1][1]) for item in found.items] == [("3/x", "Yes."), ("3-2/x", "No.")]
    assert {item.case_id for item in found.items} == {"3"}
    assert [row["text"] for row in found.hidden_messages] == [PROMPT] * 2
    assert "1 sample of documents already read with another filter, skipped" in found.notes


# data sets of Hugging Face


@pytest.mark.parametrize("name", ["datasets_one", "datasets_splits", "datasets_splits/test"])
def test_saved_data_sets_are_read_without_their_package(name: str) -> None:
    found = reading(EXPORTS / name)
    assert len(found.items) == (2 if name.endswith("test") else 4)
    assert {item.system for item in found.items} == {"heron", "reed"}
    assert all(file.suffix == ".arrow" for file in source_files("auto", EXPORTS / name))


def test_a_data_set_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    shutil.copytree(EXPORTS / "datasets_one", tmp_path / "data")
    (tmp_path / "data" / "data-00001-of-00002.arrow").unlink()
    assert "'_data_files' must list files beside it" in refused(tmp_path / "data")
    shutil.copytree(EXPORTS / "datasets_splits", tmp_path / "splits")
    shutil.rmtree(tmp_path / "splits" / "test")
    assert "'splits' must list folders beside it" in refused(tmp_path / "splits")
    (tmp_path / "data" / "data-00001-of-00002.arrow").write_bytes(b"\xff\xff\xff\xff broken")
    assert "not readable as Parquet or Arrow" in refused(tmp_path / "data")


# people's chats


def _part(who: str, body: str | None, part_type: str = "comment", name: str = "") -> dict[str, Any]:
    names = {"user": "Ann", "lead": "Ann", "bot": "Brix", "admin": "Olga", "team": "Desk"}
    return {"part_type": part_type, "body": body, "author": {"type": who, "id": "1", "name": name or names[who]}}


def _intercom(*parts: dict[str, Any], number: int = 1) -> dict[str, Any]:
    source = {"type": "conversation", "body": "<p>Where is <b>my</b> order?</p>", "author": {"type": "lead"}}
    inner = {"type": "conversation_part.list", "conversation_parts": [*parts], "total_count": len(parts)}
    return {"type": "conversation", "id": f"2{number}", "source": source, "conversation_parts": inner}


@pytest.mark.parametrize("form", ["one", "list", "lines"])
def test_conversations_of_intercom_are_texts_of_user_and_bot(tmp_path: Path, form: str) -> None:
    parts = [
        _part("bot", "<p>2 &lt; 3 parcels<br>are here.</p>\n<p>Which one?</p>"), _part("bot", None, "assignment"),
        _part("admin", "<p>A regular.</p>", "note"), _part("user", "<p class='x'>The first.</p>"),
        _part("admin", "<div>I bring it.</div>"),
    ]  # fmt: skip
    record, path = _intercom(*parts), tmp_path / "talks.json"
    if form == "lines":
        path.write_text(f"{json.dumps(record)}\n{json.dumps(_intercom(*parts, number=2))}\n")
    else:
        write(path, record if form == "one" else {"type": "conversation.list", "conversations": [record]})
    assert detect_format(path) == "intercom"
    found = reading(path)
    assert [item.item_id for item in found.items] == ["21/Brix", "22/Brix"][: 2 if form == "lines" else 1]
    assert turns_of(found.items[0]) == [
        ("user", "Where is my order?"), ("bot", "2 < 3 parcels\nare here.\nWhich one?"), ("user", "The first."),
        ("admin", "I bring it."),
    ]  # fmt: skip
    assert found.items[0].judged == "bot"
    assert any("internal note" in note for note in found.notes)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>I &lt;3 it</p>\n\n<ul><li>one</li><li>two</li></ul>", "I <3 it\none\ntwo"),
        ("2 < 3 <b>and</b> 4 > 3", "2 < 3 and 4 > 3"),
        ("<H1>Hi</H1><BR/>there<!-- x -->", "Hi\nthere"),
        ("<p " * 50_000 + " " * 50_000 + "x", "<p " * 50_000 + " " * 50_000 + "x"),  # in linear time
    ],
)
def test_the_html_of_intercom_becomes_text(tmp_path: Path, body: str, text: str) -> None:
    (item,) = reading(write(tmp_path / "talks.json", _intercom(_part("bot", body)))).items
    assert item.utterances[1] == text


def test_parts_of_intercom_without_text_are_left_out_and_counted(tmp_path: Path) -> None:
    record = _intercom(_part("bot", "<p>Hello.</p>"), _part("bot", '<img src="x.png">'))
    record["source"]["body"] = ""
    found = reading(write(tmp_path / "talks.json", record))
    assert turns_of(found.items[0]) == [("bot", "Hello.")]
    assert any(note.startswith("2 parts") and "without text" in note for note in found.notes)
    whole = _intercom(_part("bot", "<p>Hello.</p>"))
    assert not any("without text" in note for note in reading(write(tmp_path / "talks.json", whole)).notes)


def test_of_two_bots_of_intercom_the_one_that_writes_more_is_the_system(tmp_path: Path) -> None:
    greeting = _part("bot", "<p>We are here.</p>", name="Operator")
    parts = [greeting, _part("bot", "<p>Hello.</p>"), _part("user", "<p>Hi.</p>"), _part("bot", "<p>Where?</p>")]
    found = reading(write(tmp_path / "talks.json", _intercom(*parts)))
    assert [item.system for item in found.items] == ["Brix"]
    assert any("several bots" in note for note in found.notes)


def test_a_conversation_of_intercom_without_a_bot_is_that_of_its_agents(tmp_path: Path) -> None:
    path = write(tmp_path / "talks.json", _intercom(_part("admin", "<p>Here.</p>")))
    assert "system" in refused(path)
    (item,) = reading(path, system="desk", evaluated_role="admin").items
    assert (item.system, item.judged, turns_of(item)[1]) == ("desk", "admin", ("admin", "Here."))
    assert "part 1: the author's type is 'team'" in refused(write(path, _intercom(_part("team", "<p>Here.</p>"))))
    assert "retrieve each conversation" in refused(write(path, _intercom() | {"conversation_parts": {}}))


@pytest.mark.parametrize(
    "text",
    [
        "[15/03/2024, 10:15:03] Ann: Hi\nthere: you\n[15/03/2024, 10:16:00] Brix Bot: Hello\n",
        "\u200e[15.03.24, 10:15:03] Ann: Hi\nthere: you\n\u200e[15.03.24, 10:16:00] Brix Bot: \u200eHello\n",
        "15/03/2024, 10:14 - Messages and calls are end-to-end encrypted.\n"
        "15/03/2024, 10:15 - Ann: Hi\nthere: you\n15/03/2024, 10:16 - Brix Bot: Hello\n",
        "3/15/24, 10:15\u202fAM - Ann: Hi\nthere: you\n3/15/24, 10:16\u202fAM - Brix Bot: Hello\n",
        "2024-03-15, 10:15 p.m. - Ann: Hi\nthere: you\n2024-03-15, 10:16 p.m. - Brix Bot: Hello\n",
    ],
)
def test_whatsapp_chats_in_the_forms_of_its_phones(tmp_path: Path, text: str) -> None:
    path = tmp_path / "WhatsApp Chat with Ann.txt"
    path.write_text(text, encoding="utf-8")
    assert detect_format(path) == "whatsapp"
    for place in (path, tmp_path):
        (item,) = reading(place, system="brix", evaluated_role="Brix Bot").items
        assert turns_of(item) == [("Ann", "Hi\nthere: you"), ("Brix Bot", "Hello")]
        assert item.item_id == "WhatsApp Chat with Ann/brix"
    assert "have no system" in refused(path)


def slack(folder: Path) -> Path:
    people = [{"id": "U1", "name": "ann", "real_name": "Ann A."}, {"id": "U2", "name": "brix", "is_bot": True}]
    write(folder / "users.json", people)
    write(folder / "channels.json", [{"id": "C1", "name": "desk"}])
    message = {"type": "message", "user": "U1", "thread_ts": "1710497700.1"}
    bot = {"type": "message", "bot_id": "B1", "user": "U2", "thread_ts": "1710497700.1"}
    day = [
        {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1710497600.0", "text": "joined"},
        message | {"ts": "1710497700.1", "text": "Is <@U2> here &amp; <https://a.example|open>?"},
        {"type": "message", "user": "U1", "ts": "1710497701.0", "text": "lunch?"},
    ]
    write(folder / "desk" / "2024-03-15.json", day)
    write(folder / "desk" / "2024-03-16.json", [bot | {"ts": "1710497800.1", "text": "Yes."}])
    return folder


def test_slack_threads_are_dialogues_of_the_app_that_answers(tmp_path: Path) -> None:
    found = reading(slack(tmp_path / "export"))
    (item,) = found.items
    assert (item.item_id, item.system, item.judged) == ("desk-1710497700.1/brix", "brix", "brix")
    assert turns_of(item) == [("Ann A.", "Is @brix here & open?"), ("brix", "Yes.")]
    assert "1 thread without an app, skipped" in found.notes
    assert "1 message of Slack itself, such as joins, skipped" in found.notes
    files = [file.name for file in source_files("auto", tmp_path / "export")]
    assert files == ["2024-03-15.json", "2024-03-16.json", "users.json"]
    for part in ("export/desk", "export/desk/2024-03-15.json"):
        assert detect_format(tmp_path / part) == "slack"
    people = reading(tmp_path / "export" / "desk" / "2024-03-15.json", system="desk", evaluated_role="Ann A.")
    assert {one.item_id for one in people.items} == {"desk-1710497700.1/desk", "desk-2024-03-15/desk"}
    write(tmp_path / "export" / "desk" / "2024-03-17.json", [{"type": "message", "text": "x"}])
    words = refused(tmp_path / "export")
    assert "2024-03-17.json, record 1: a message of Slack needs its time as text in 'ts'" in words


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("log.eval", b"PK\x03\x04 no archive", "inspect log convert"),
        ("export.zip", b"PK\x03\x04 no archive", "unpack it"),
        ("t.json", b'[{"run_type": "llm", "inputs": null, "outputs": null}]', "export runs with inputs and outputs"),
        ("t.json", b'[{"traceId": "t", "startTime": "x", "input": null}]', "with input and output"),
        ("t.json", b'{"resourceSpans": 7}', "OpenTelemetry's export has 0 spans"),
        ("t.jsonl", b'{"doc_id": 1, "doc": {}, "resps": 7, "arguments": 7}', "only tasks with output_type"),
        ("t.json", b'{"eval": {"model": "x"}, "status": "success", "samples": 7}', "has no samples"),
        ("t.json", b'{"a": 1, "b": "x"}', "name its fields under `columns`"),
        ("log.json", b'{"session-id": "v", "turns": [{"output": {}, "input": {}}]}', "label.json (`transcription`)"),
        ("t.json", b'[{"context": "a", "fact": "b", "responses": []}]', "set reader usr for this path under metaeval"),
        ("t.csv", b"english_dial,ratings\na,1\n", "this is a rated corpus, not transcripts; to read the ratings, set"),
        ("t.csv", b"UID_TEST,CID,LANGUAGE,COHERENCE\na,b,ZH,3\n", "set reader dstc11_csv"),
        ("a-dial_text.txt", b"A-000001\thuman: a\tmodel: b\n", "set reader comp_dialogue"),
        ("a_text.txt", b"A-000001\ta\tb\n", "set reader comp_turn"),
        ("human_ctx.txt", b"a|||b\n", "set reader grade_texts"),
    ],
)
def test_a_file_of_a_known_tool_that_cannot_be_read_names_the_remedy(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert words in refused(tmp_path / name)


def test_readers_can_be_named(tmp_path: Path) -> None:
    for name, kind in (
        ("inspect.json", "inspect"),
        ("langsmith.jsonl", "langsmith"),
        ("openllmetry.json", "opentelemetry"),
    ):
        assert list(read(EXPORTS / name, kind, {}, Counter()))


def test_an_export_without_responses_says_how_many_conversations_it_passed_over(tmp_path: Path) -> None:
    run = {"id": "r", "run_type": "llm", "start_time": "2025-01-01T00:00:00", "outputs": None}
    run["inputs"] = {"messages": [{"role": "user", "content": "Hi"}]}
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(run) + "\n", encoding="utf-8")
    assert "1 conversation without messages, skipped)" in refused(path, system="heron")

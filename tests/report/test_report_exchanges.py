"""What judges were sent and answered: found by request, shown as it was sent, and said in words."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import report_example as example

from dialeval.engines.requests import Message, merge_system
from dialeval.report.exchanges import Answerer, Answering, Exchange, ExchangeSource, how_read
from dialeval.report.packing import Prompts
from dialeval.report.run_files import Answers, exchanges_of_run
from dialeval.tables.dialogues import REQUESTS, RESPONSES
from dialeval.tables.files import to_table, write_table
from dialeval.tables.schema import Table

ID = "unieval/MT-1/weak"


def exchange(run: ExchangeSource, judge: str = "clerk", request_id: str = ID) -> Exchange:
    return run.exchanges({judge: {request_id}})[judge, request_id]


def write(path: Path, kind: Table, *rows: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, kind, to_table(kind, rows))


def test_only_what_is_wanted_and_there_is_found() -> None:
    found = example.exchange_source().exchanges({"clerk": {ID, "unieval/elsewhere"}, "nobody": {ID}})
    assert set(found) == {("clerk", ID)}


def test_a_judge_without_system_messages_is_shown_with_what_it_was_sent() -> None:
    sent = exchange(example.exchange_source(model=Answering(merges=True))).prompt()
    planned = exchange(example.exchange_source()).prompt()
    assert [message.role for message in planned] == ["system", "user"]
    assert sent == merge_system(planned)
    assert sent[0].content.startswith("Be strict.\n\nRead this.")


def test_a_retry_shows_the_second_exchange_and_counts_both() -> None:
    first = example.response(ID, "Hm?", prompt_tokens=10, completion_tokens=1)
    second = example.response(f"{ID}/again", "Choice: No", prompt_tokens=20, completion_tokens=2)
    again = example.request(f"{ID}/again", ("user", "Read."), ("assistant", "Hm?"), ("user", "In the form, please."))
    run = example.exchange_source(
        responses=example.in_memory(RESPONSES, [first, second]), retries=example.in_memory(REQUESTS, [again])
    )
    one = exchange(run)
    assert one.answer["text"] == "Choice: No"
    assert [message.content for message in one.prompt()] == ["Read.", "Hm?", "In the form, please."]
    assert one.facts() == "30 tokens in, 3 out, cost 8.4e-05, requested twice"


def test_a_second_try_without_an_answer_leaves_the_first() -> None:
    first, second = example.response(ID, "Hm?"), example.response(f"{ID}/again", "", status="missing")
    run = example.exchange_source(responses=example.in_memory(RESPONSES, [first, second]))
    assert exchange(run).answer["text"] == "Hm?"
    assert "twice" not in exchange(run).facts()


def test_a_cascade_shows_the_answer_of_the_judge_that_was_heard() -> None:
    cheap = [example.response(ID, "cheap"), example.response("unieval/MT-2/able", "cheap")]
    judges = {
        "small": Answerer(example.in_memory(RESPONSES, cheap)),
        "large": Answerer(example.in_memory(RESPONSES, [example.response(ID, "dear")])),
    }
    run = replace(example.exchange_source(), judges=judges, together={"both": ("large", "small")})
    assert exchange(run, "both").answer["text"] == "dear"
    assert exchange(run, "both", "unieval/MT-2/able").answer["text"] == "cheap"


def test_probabilities_are_shown_the_largest_first() -> None:
    logprobs = {"No": math.log(0.2), "Yes": math.log(0.7)}
    answer = example.response(ID, "", label_logprobs=list(logprobs.items()), label_mass=0.9)
    request = example.request(ID, ("user", "?"), kind="choice", labels=["Yes", "No"])
    run = example.exchange_source(responses=example.in_memory(RESPONSES, [answer]))
    one = exchange(replace(run, requests=example.in_memory(REQUESTS, [request])))
    assert one.probabilities() == [["Yes", 0.7], ["No", 0.2]]
    assert how_read("probability", "ok", one).endswith("which together had 0.9 of the probability")
    assert exchange(example.exchange_source()).probabilities() is None


def test_how_an_answer_was_read_follows_the_question_and_the_status() -> None:
    one = exchange(example.exchange_source())
    assert "“Choice:”" in how_read("pair", "ok", one)
    assert "cut off" in how_read("pair", "truncated", one)
    assert how_read(None, "skipped", None) == how_read("pair", "ok", None) == ""
    request = example.request(ID, ("user", "?"), answer_schema="{}")
    structured = exchange(replace(example.exchange_source(), requests=example.in_memory(REQUESTS, [request])))
    assert "JSON" in how_read("pair", "ok", structured)


def test_embedded_models_and_short_windows_have_a_note() -> None:
    short = [example.response(ID, "x", prompt_tokens=5, dropped=3)]
    facts = exchange(
        example.exchange_source(responses=example.in_memory(RESPONSES, short), model=Answering(from_texts=True))
    ).facts()
    assert facts.startswith("embedded model: computed from the texts")
    assert "without its 3 oldest utterances" in facts


def test_every_line_break_and_odd_character_of_a_prompt_is_kept() -> None:
    contents = ["", "\n", "a\r\nb\n\n", "\u2028 \x0b \x85", "no end", example.HOSTILE]
    prompts = Prompts()
    number = prompts.place([Message("user", content) for content in contents])
    piece = prompts.piece()
    lines = [places for _, places in piece["prompts"][number]]
    assert ["".join(piece["strings"][place] for place in places) for places in lines] == contents
    assert prompts.place([]) == -1
    assert prompts.place([Message("user", content) for content in contents]) == number


def test_tables_are_found_in_a_folder_of_results(tmp_path: Path) -> None:
    write(tmp_path / "requests/unieval.parquet", REQUESTS, example.request(ID, ("user", "?")))
    write(tmp_path / "requests/again/clerk/unieval.parquet", REQUESTS, example.request(f"{ID}/again", ("user", "!")))
    write(tmp_path / "responses/clerk/unieval/1-of-2.parquet", RESPONSES)
    write(tmp_path / "responses/clerk/unieval/2-of-2.parquet", RESPONSES, example.response(ID, "Hm"))
    write(tmp_path / "responses/again/clerk/unieval.parquet", RESPONSES, example.response(f"{ID}/again", "Choice: No"))
    clerk = Answering(shards={"unieval": 2}, again=["unieval"], price_input=1, price_output=1, merges=True)
    one = exchange(exchanges_of_run(tmp_path, Answers(models={"clerk": clerk})))
    assert one.answer["text"] == "Choice: No"
    assert one.prompt()[0].content == "!"
    assert one.judge.model.merges


def test_the_prompt_of_others_is_not_shown_as_ours() -> None:
    one = exchange(example.exchange_source(model=Answering(published=True)))
    assert one.prompt() == ()
    assert one.answer["text"] == "Hard to say <i>really</i>."
    assert one.facts().startswith("a published response to the authors' own prompt")

"""Every format that readers take: small good files by hand, and what the stages make of them."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from file_mutations import packed
from public_formats import EXAMPLES

from dialeval.corpora import battles, botchat
from dialeval.corpora.dialogues import seed_table, utterance_table
from dialeval.corpora.items import item_rows
from dialeval.corpora.rated_sources import left_out_rows, rating_rows
from dialeval.corpora.readers import rated_source_files, read_corpus, read_rated, source_files
from dialeval.corpora.robustness_sets import ORIGINALS_FILE, SETS, read_sets, wanted_sets
from dialeval.corpora.score_files import RatedCorpora, read_score_file
from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import source_files as transcript_files
from dialeval.dialogbench import items
from dialeval.perturbations.suite import published_outcome
from dialeval.protocols import imported_answers
from dialeval.protocols.selfchat import rows as generated_rows
from dialeval.tables.dialogbench import TEST_ITEMS
from dialeval.tables.dialogues import GENERATED, HIDDEN_MESSAGES, JUDGEMENTS, RESPONSES, SEEDS, UTTERANCES
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import ITEMS, LEFT_OUT_ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS
from dialeval.tables.schema import Table

Read = Callable[[Path], None]
_EXPORTS = Path(__file__).parents[1] / "corpora" / "transcripts" / "exports"


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        files: content by path under a folder.
        read: reads the folder, and writes what the stage would write to memory.
    """

    files: dict[str, bytes]
    read: Read

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def kind(self, name: str) -> str:
        """Return how a file of it can be mutated."""
        suffix = Path(name).suffix[1:]
        text_kind = "json" if self.files[name].lstrip()[:1] in (b"{", b"[") else "tsv"
        return {"jsonl": "json", "txt": text_kind}.get(suffix, suffix)


def write_to_memory(kind: Table, rows: Sequence[dict[str, Any]] | pa.Table) -> None:
    """Write a table as `tables.write_table` does, to nowhere."""
    table = rows if isinstance(rows, pa.Table) else to_table(kind, rows)
    for column in kind.schema:
        assert column.nullable or not table[column.name].null_count, f"{kind.name}.{column.name} has nulls"
    pq.write_table(table.cast(kind.schema), pa.BufferOutputStream())


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _lines(*values: Any) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _workbook(*rows: Sequence[Any]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return bytes(out.getvalue())


def _corpus(reader: str, name: str) -> Read:
    def read(folder: Path) -> None:
        path = folder / name if name else folder
        source_files(reader, path)
        reading = read_corpus(reader, path, "en")
        reading.summary()
        table = utterance_table("mine", reading)
        write_to_memory(UTTERANCES, table)
        write_to_memory(SEEDS, seed_table(table, arena_min_utterances=4, limit=None))

    return read


def _rated(reader: str, name: str) -> Read:
    def read(folder: Path) -> None:
        rated_source_files(reader, folder / name)
        reading = read_rated(reader, "mine", folder / name)
        reading.summary()
        write_to_memory(ITEMS, list(item_rows(reading.items)))
        write_to_memory(RATINGS, rating_rows(reading.ratings))
        write_to_memory(LEFT_OUT_ITEMS, left_out_rows("mine", reading))

    return read


def _exported(name: str) -> bytes:
    return (_EXPORTS / name).read_bytes()


def _archive(log: dict[str, Any]) -> bytes:
    """Return a log of Inspect as an archive that Python can unpack; Inspect's own are packed by Zstandard."""
    header = {name: value for name, value in log.items() if name != "samples"}
    samples = {f"samples/{one['id']}_epoch_{one['epoch']}.json": _json(one) for one in log["samples"]}
    return packed({"header.json": _json(header), **samples})


def _transcripts(name: str, **columns: str) -> Read:
    def read(folder: Path) -> None:
        transcript_files("auto", folder / name)
        reading = read_items("mine", folder / name, Options(system="alpha", columns=columns))
        write_to_memory(ITEMS, list(item_rows(reading.items)))
        write_to_memory(HIDDEN_MESSAGES, reading.hidden_messages)
        write_to_memory(LEFT_OUT_ITEMS, [one._asdict() for one in reading.left_out])

    return read


_TALK = ["Is there milk?", "Behind the jam.", "Thänks 😀.", "Any time."]
_DIALOGUE = [{"speaker": "AB"[n % 2], "text": text} for n, text in enumerate(_TALK)]
_FED = {"context": "User: Is there milk?\nSystem: Behind the jam.\nUser: Thanks.", "system": "Meena"}
_CONTURE = {
    "dialog_id": 0,
    "turns": [
        {"user": "User: Is there milk?", "chatbot": "Chatbot: Behind the jam.", "overall impression": 2},
        {"user": "User: ", "chatbot": "Chatbot:", "overall impression": 0},
    ],
    "dialog_ratings": [{"coherent": 3, "human (overall)": 5}, {"coherent": "N/A", "human (overall)": 1}],
}
_SAID = {"utterances": _DIALOGUE}
_SEEDS = {"MT-1": ("Is there milk?", "Behind the jam."), "MT-4": ("Rain?", "No.")}
_ABOUT = RatedCorpora(
    levels={"fed": "turn"},
    items={("fed", "en", "F-1"), ("fed", "en", "F-2"), ("fed", "de", "F-1")},
    rated={"fed": {"overall", "relevance"}},
    left_out={("fed", "en", "F-9"): "lines without a rating"},
)


def _scores(folder: Path) -> None:
    write_to_memory(JUDGEMENTS, list(read_score_file(folder / "mine.csv", "mine", (0.0, 1.0), _ABOUT, Counter())))


def _battles(name: str) -> Read:
    def read(folder: Path) -> None:
        found = battles.read(folder / name, cluster="prompt")
        "".join(found.models).encode()
        assert len(found) == len(found.outcome) == len(found.cluster)

    return read


def _dialogbench(folder: Path) -> None:
    reading = items.read(folder, "en")
    reading.summary()
    rows = [{"source": "mine", "variant": "full", **item.to_row()} for item in reading.items]
    write_to_memory(TEST_ITEMS, rows)


def _published_dialogues(name: str) -> Read:
    def read(folder: Path) -> None:
        found = botchat.read_dialogues(folder / name, "gpt")
        turns = imported_answers.turns(
            _SEEDS, found, n_utterances=16, only_some_seeds=False, source=str(folder / name), notes=Counter()
        )
        write_to_memory(GENERATED, list(generated_rows("gpt", _SEEDS, turns)))

    return read


def _request(protocol: str, right: str | None) -> dict[str, Any]:
    subject = [_TALK] if right is None else [_TALK, _TALK[:2]]
    names = {"request_id": "r", "protocol": protocol, "case_id": "MT-1", "left": "gpt", "right": right}
    return {**names, "n_utterances": None, "subject": subject}


def _published_answers(name: str, right: str | None) -> Read:
    def read(folder: Path) -> None:
        found = botchat.read_answers(folder / name, "gpt4", {"GPT": "gpt"}, pairs=right is not None)
        planned = [_request("unieval" if right is None else "gteval", right)]
        known = {(shown, None): answer for shown, answer in found.items()}
        write_to_memory(RESPONSES, list(imported_answers.responses(planned, known, str(folder / name), Counter())))

    return read


def _robustness(folder: Path) -> None:
    for pairs in read_sets(folder, wanted_sets(folder, None)).values():
        outcomes = [published_outcome(pair) for pair in pairs]
        write_to_memory(PAIRS, [row for row, _ in outcomes])
        write_to_memory(ITEMS, list(item_rows(item for _, item in outcomes if item is not None)))


_RATED_LINES = _lines(
    {
        "item_id": "k-1",
        "context": ["Is there milk?"],
        "response": "Yes.",
        "scale": [1, 5],
        "ratings": {"overall": [4, None]},
    },
    {"item_id": "k-1", "language": "de", "response": "Ja.", "cluster": "k"},
    {
        "item_id": "t-1",
        "dialogue": _DIALOGUE,
        "ratings": {"coherence": {"values": [2, 3], "scale": [0, 3], "rater": "x"}},
    },
    {"item_id": 7, "response": "No.", "ratings": {"overall": {"value": 2.5, "n_raters": 3, "scale": [1, 5]}}},
)
_FED_ROWS = b"F-0\thuman: Hello?\tmodel:  Hi: you? \nF-1\thuman: Rain again.\tmodel: Bring a coat.\n"
_FED_PEOPLE = [
    {"dialog": [{"speaker": "human", "text": a}, {"speaker": "model", "text": b}], "annotations": {"Coherent": [1, 2]}}
    for a, b in (("Hello?", "Hi: you?"), ("Rain again.", "Bring a coat."))
]
_ROUNDS = {"coh_1": [1.0, 5.0], "coh_2": [2.5, 4.0], "ovr_1": [3.0, 3.0]}
_RECORD = {
    "id": "x1", "task": "MRG", "domain": "Travel", "speaker1 personality": "patient",
    "dialogue": [{"speaker1": "Late.", "speaker2": "Again."}, {"speaker1": "I walked."}],
    "option": {"A": "one", "B": {"text": "two"}, "C": "three", "D": "four"}, "label": "B",
}  # fmt: skip
_CONVERSATIONS = [["index", "nround", "gpt"], ["MT-1", 4, json.dumps(_TALK)], ["MT-4", 3, '["Rain?", "No.", "Oh."]']]


def _turn_set(name: str, original: bytes, damaged: bytes) -> dict[str, bytes]:
    return {SETS[name].original: original, SETS[name].perturbed: damaged}


def _dialogue_set(name: str, in_cycles: bool = False) -> dict[str, bytes]:
    firsts = [b"Hi!", b"Sun?"]
    order = [row % 2 if in_cycles else row // 5 for row in range(10)]
    rows = [b"x_%02d\thuman: %s\tmodel: Hey %d." % (n, firsts[n], row) for row, n in enumerate(order)]
    return {SETS[name].perturbed: b"\n".join(rows) + b"\n"}


_CALL = {"function": {"name": "find", "arguments": "{}"}}
_MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Is there milk?"}, {"type": "image_url"}]},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "content": "jam"},
    {"role": "assistant", "content": "Behind the jam."},
]

_CHAT = [{"role": "user", "content": "Is there milk?"}, {"role": "assistant", "content": "Behind the jam."}]
_CHATS = [{"conversation_id": "c1", "model": "a", "language": "English", "turn": 1, "conversation": _CHAT}] * 2
_CHATS[1] = _CHATS[1] | {"model": "b"}

FORMATS: dict[str, Format] = {
    "transcripts": Format(
        {
            "mine.jsonl": _lines(
                {"dialogue_id": 1, "system": "a", "case_id": "m", **_SAID, "reference": "Yes."},
                {"dialogue_id": 1, "system": "b", "prompt": "Milk", "utterances": _TALK, "speakers": ["user", "bot"]},
            )
        },
        _transcripts("mine.jsonl"),
    ),
    "transcripts of sharegpt": Format(
        {
            "mine.json": _json(
                [
                    {"id": 1, "model": "a", "conversations": [{"from": "human", "value": "Hi"}]},
                    {"system": "Be kind.", "conversations": [{"from": "gpt", "value": "Hi"}]},
                ]
            )
        },
        _transcripts("mine.json"),
    ),
    "transcripts in a folder": Format(
        {"a.jsonl": _lines({"id": 1, "messages": _MESSAGES}), "b.json": _json([{"id": 1, "messages": _MESSAGES}])},
        _transcripts(""),
    ),
    "transcripts in a table": Format(
        {
            "mine.csv": b"dialogue_id,system,case_id,turn,speaker,text\n"
            b'1,a,m,1,user,"Milk, ""please""?"\n1,a,m,2,bot,Jam.\n1,b,m,1,user,"a\nb"\n1,b,m,2,bot,No.\n'
        },
        _transcripts("mine.csv"),
    ),
    "transcripts in parquet": Format({"mine.parquet": _parquet(_CHATS)}, _transcripts("mine.parquet")),
    "transcripts in cells": Format(
        {"mine.csv": f'id,model,conversation\n1,a,"{_CHAT}"\n1,b,"{_CHAT}"\n'.encode()}, _transcripts("mine.csv")
    ),
    "transcripts by preference": Format(
        {
            "mine.jsonl": _lines(
                {"chosen": "\n\nHuman: Hi\n\nAssistant: Hello", "rejected": "\n\nHuman: Hi\n\nAssistant: No"},
                {"prompt": "Milk?", "chosen": _CHAT[1:], "rejected": "None."},
            )
        },
        _transcripts("mine.jsonl"),
    ),
    "transcripts as replies": Format(
        {
            "mine.jsonl": _lines(
                {"instruction": "Milk?", "output": "Behind the jam.", "generator": "a"},
                {"context": ["Hi", "Hello", "Milk?"], "response": "Jam.", "model": "b"},
                {
                    "instruction": "Milk?",
                    "completions": [{"model": "a", "response": "x"}, {"model": "b", "output": "y"}],
                },
            )
        },
        _transcripts("mine.jsonl"),
    ),
    "transcripts of exchanges": Format(
        {
            "mine.jsonl": _lines(
                {"dialog": [[{"id": "user", "text": "Hi"}, {"id": "alpha", "text": "Hello"}]], "id": 1},
                {"dialog": [[0, "Hi"], [1, "Hello"]], "id": 2},
            )
        },
        _transcripts("mine.jsonl"),
    ),
    "transcripts of mt-bench": Format(
        {
            "question.jsonl": _lines({"question_id": 81, "turns": ["Milk?", "Jam?"]}),
            "model_answer/alpha.jsonl": _lines({"question_id": 81, "choices": [{"turns": ["Yes.", "No."]}]}),
        },
        _transcripts(""),
    ),
    "transcripts of inspect": Format(
        {"mine.eval": _archive(json.loads(_exported("inspect.json")))}, _transcripts("mine.eval")
    ),
    "transcripts of inspect in JSON": Format({"mine.json": _exported("inspect.json")}, _transcripts("mine.json")),
    "transcripts of lm-eval": Format(
        {f"lm/{name}": _exported(f"lm_eval/{name}") for name in ("samples_desk_1.jsonl", "results_1.json")},
        _transcripts("lm"),
    ),
    "transcripts of langfuse": Format({"mine.json": _exported("langfuse.json")}, _transcripts("mine.json")),
    "transcripts of langsmith": Format({"mine.jsonl": _exported("langsmith.jsonl")}, _transcripts("mine.jsonl")),
    "transcripts of opentelemetry": Format({"mine.json": _exported("openllmetry.json")}, _transcripts("mine.json")),
    "transcripts of openinference": Format({"mine.json": _exported("openinference.json")}, _transcripts("mine.json")),
    "transcripts of a data set": Format(
        {
            f"data/{name}": _exported(f"datasets_one/{name}")
            for name in ("state.json", "data-00000-of-00002.arrow", "data-00001-of-00002.arrow")
        },
        _transcripts("data"),
    ),
    "transcripts of slack": Format(
        {
            "users.json": _json([{"id": "U1", "name": "ann"}, {"id": "U2", "name": "brix", "is_bot": True}]),
            "desk/2024-03-15.json": _json(
                [
                    {"type": "message", "user": "U1", "text": "Hi <@U2>", "ts": "1.0"},
                    {"type": "message", "user": "U2", "bot_id": "B", "text": "Hello", "ts": "2.0"},
                ]
            ),
        },
        _transcripts(""),
    ),
    "transcripts of whatsapp": Format(
        {"mine.txt": "15/03/2024, 10:15 - Ann: Hi\nyou\n15/03/2024, 10:16 - Alpha: Hello 😀\n".encode()},
        _transcripts("mine.txt"),
    ),
    "transcripts with named fields": Format(
        {
            "mine.json": _json(
                [
                    {
                        "meta": {"bot": "a", "nr": 1},
                        "log": [{"by": "user", "say": "Hi"}, {"by": "bot", "say": "Hello"}],
                    },
                    {"meta": {"bot": "b", "nr": 1}, "log": [{"by": "user", "say": "Hi"}, {"by": "bot", "say": "No"}]},
                ]
            )
        },
        _transcripts("mine.json", system="meta.bot", dialogue_id="meta.nr", speaker="by", text="say"),
    ),
    "transcripts in rows of objects": Format(
        {
            "mine.jsonl": _lines(
                {"conversation_id": 1, "role": "user", "content": "Hi", "turn": 1},
                {"conversation_id": 1, "role": "assistant", "content": "Hello", "turn": 2},
            )
        },
        _transcripts("mine.jsonl"),
    ),
    "transcripts in plain text": Format(
        {"mine.txt": b"User: Milk?\nAlpha: Behind\nthe jam.\n\nUser: Hi\nAlpha: Hello\n"}, _transcripts("mine.txt")
    ),
    "dialogues in plain text": Format(
        {"mine.txt": b"Milk ? __eou__ Jam . __eou__\nHi __eou__ Hello __eou__\n"}, _corpus("auto", "mine.txt")
    ),
    "dialogues of dream": Format(
        {"mine.json": _json([[["M: Hi.", "W: Hello."], [{"question": "Who?"}], "4-1"]])}, _corpus("auto", "mine.json")
    ),
    "dialogues": Format(
        {"mine.jsonl": _lines({"dialogue_id": "d1", **_SAID}, {"dialogue_id": 2, "language": "de", **_SAID})},
        _corpus("jsonl", "mine.jsonl"),
    ),
    "mutual": Format(
        {
            f"dev_{n}.txt": _json({"answers": "A", "options": ["m : a"] * 4, "article": article, "id": f"dev_{n}"})
            for n, article in enumerate(["m : hi . f : hello .", "m : hi . f : hello . m : rain ?", "f : x m : y"])
        },
        _corpus("mutual_folder", ""),
    ),
    "botchat workbook": Format(
        {"book.xlsx": _workbook(["index", "conv-GT", "nround"], ["MT-1", json.dumps(_TALK), 4], [4, '["a", "b"]', 2])},
        _corpus("botchat_workbook", "book.xlsx"),
    ),
    "rated lines": Format({"mine.jsonl": _RATED_LINES}, _rated("rated_jsonl", "mine.jsonl")),
    "comp turn": Format(
        {
            "fed-turn_text.txt": b"F-000000\tHello?\tHi.\nF-000001\tHello?\tHi.\tRain?\nF-000002\tAlone.\n",
            "turn_overall_ratings.json": _json({"other": [1], "fed-turn": [0, 3.5, 4]}),
            "turn_relevance_ratings.json": _json({"fed-turn": [0, 1.5, 2]}),
        },
        _rated("comp_turn", "fed-turn_text.txt"),
    ),
    "comp dialogue of people": Format(
        {
            "fed-dial_text.txt": _FED_ROWS,
            "fed_human_annotations.json": _json(_FED_PEOPLE),
            "fed_gpt4_annotations.json": _json(_ROUNDS),
        },
        _rated("comp_dialogue", "fed-dial_text.txt"),
    ),
    "comp dialogue with indices": Format(
        {
            "heval-dial_text.txt": _FED_ROWS + b"F-2\thuman: A\tbot: B\n",
            "heval_gpt4_annotations.json": _json(_ROUNDS | {"indices": [2, 0]}),
        },
        _rated("comp_dialogue", "heval-dial_text.txt"),
    ),
    "xdial turns": Format(
        {
            "fed-turn.csv": b"english_ctx,english_res,german_ctx,german_res,ratings\n"
            b'"Hi.\nSo?",No.,"Hallo.\nUnd?",,1.5\n,"A, b","",Ja,4\n'
        },
        _rated("xdial", "fed-turn.csv"),
    ),
    "xdial dialogues": Format(
        {"fed-dial.csv": b'arabic_dial,english_dial,ratings\n"\nx\ny","\nHi.\nSo?",1.5\n"\nx","\nA\nB",0.4\n'},
        _rated("xdial", "fed-dial.csv"),
    ),
    "fed": Format(
        {
            "fed_data.json": _json(
                [
                    _FED | {"response": "System: Behind the jam.", "annotations": {"Relevant": [2, 1], "Fluent": []}},
                    _FED
                    | {"context": "User: Rain?\nAgain?", "response": "No.", "annotations": {"Overall": [4, "N/A"]}},
                    _FED | {"annotations": {"Coherent": [2, "N/A (x)"], "Error recovery": ["N/A"]}},
                ]
            )
        },
        _rated("fed_turn", "fed_data.json"),
    ),
    "fed dialogues": Format(
        {"fed_data.json": _json([_FED | {"annotations": {"Coherent": [2, "N/A (x)"], "Overall": [4, 0]}}])},
        _rated("fed_dialogue", "fed_data.json"),
    ),
    "usr": Format(
        {
            "pc_usr_data.json": _json(
                [
                    {
                        "context": "is there milk ?\nbehind the jam .\n",
                        "fact": "your persona: i cook .\n",
                        "annotators": ["a", "b"],
                        "responses": [
                            {"response": "ok .\n", "model": "S2S", "Understandable": [1, 0], "Overall": [5, 1]},
                            {"response": "", "model": "LM", "Maintains Context": [3, 1]},
                        ],
                    }
                ]
            )
        },
        _rated("usr", "pc_usr_data.json"),
    ),
    "grade": Format(
        {
            "human_judgement.json": _json(
                [
                    {
                        "ID": n,
                        "Dataset": name,
                        "DialogModel": "m",
                        "Context": "a|||b",
                        "Response": "c",
                        "HumanScores": s,
                    }
                    for n, (name, s) in enumerate(
                        [("convai2", "[1, 5]"), ("dailydialog_EVAL", "[2]"), ("convai2", "[]")]
                    )
                ]
            )
        },
        _rated("grade_convai2", "human_judgement.json"),
    ),
    "conture": Format({"data.json": _json([_CONTURE])}, _rated("conture_turn", "data.json")),
    "conture dialogues": Format({"data.json": _json([_CONTURE, _CONTURE])}, _rated("conture_dialogue", "data.json")),
    "zhao": Format(
        {
            "dd_annotations.json": _json(
                {
                    "17": {
                        "context": [["A", "is there milk ?"], ["B", ""]],
                        "reference": ["B", "no ."],
                        "responses": {
                            "S2S": {"uttr": "ok .", "scores": {"w0": {"overall": 3, "fact": "na", "worker_id": "x"}}},
                            "LM": {"uttr": "x ."},
                        },
                    }
                }
            )
        },
        _rated("zhao", "dd_annotations.json"),
    ),
    "grade texts": Format(
        {
            "human_ctx.txt": b"is there milk ?|||behind the jam .\nrain ?\n",
            "human_hyp.txt": b"thanks .\nno .\n",
            "human_score.txt": b"4.5\n1\n",
        },
        _rated("grade_texts", "human_ctx.txt"),
    ),
    "dstc10 replies": Format(
        {
            "persona-usr_eval.json": _json(
                [
                    {"context": "a\nb\n", "response": "c", "annotations": {"Overall": [5, 4], "Natural": [1]}},
                    {"context": None, "response": "", "annotations": {"Overall": []}, "dialogue_id": "x_1"},
                ]
            )
        },
        _rated("dstc10_json", "persona-usr_eval.json"),
    ),
    "dstc10 dialogues": Format(
        {
            "fed-dial_eval.json": _json(
                [{"dialog": _DIALOGUE, "annotations": {"Coherent": [2, 0]}, "model": "x", "dialogue_id": "fed-dial_0"}]
            )
        },
        _rated("dstc10_json", "fed-dial_eval.json"),
    ),
    "dstc11 replies": Format(
        {
            "LCCC-turn_eval.json": _json(
                [
                    {"context": "A:在吗？\nB:在。", "response": "A:好。", "annotations": {"relevant": [5, 4, None]}},
                    {"context": "在吗？", "response": "在。", "annotations": {"Relevant": [1]}, "dialogue_id": 7},
                    {"context": "在吗？", "response": ""},
                ]
            )
        },
        _rated("dstc11_json", "LCCC-turn_eval.json"),
    ),
    "dstc11 dialogues": Format(
        {
            "HC-dial_eval.json": _json(
                [
                    {
                        "dialog": [{"speaker": "human", "text": "嗨"}],
                        "annotations": {"coherent": [3]},
                        "dialogue_id": "a",
                    },
                    {"context": "嗨\n你好", "response": "", "annotations": {"coherence": 2.5, "overall": [1, 2]}},
                ]
            )
        },
        _rated("dstc11_json", "HC-dial_eval.json"),
    ),
    "dstc11 test set": Format(
        {
            "test_turn.csv": b"UID_TEST,CID,SID,LANGUAGE,RELEVANCE,APPROPRIATENESS\n"
            b"TEST-000001-0000,HCCHNS,Human,ZH,,\nTEST-000001-0001,HCCHNS,Chatbot,ZH,4.5,\n"
            b"TEST-000002-0001,ESL,Chatbot,EN,3,1\n",
            "said.csv": 'UID,SID,SEG\nTEST-000001-0001,Chatbot,"你好,\n早"\nTEST-000001-0000,Human,嗨\n'.encode(),
        },
        _rated("dstc11_csv", "test_turn.csv"),
    ),
    "scores": Format(
        {
            "mine.csv": b"corpus,item_id,dimension,value,language,repeat\n"
            b"fed,F-1,overall,0.5,de,0\nfed,F-2,overall,,,1\nfed,F-9,relevance,1,en,\n"
        },
        _scores,
    ),
    "battles": Format({"b.csv": b'left,right,winner,prompt\na,b,left,7\nb,"c, d",tie,7\na,b,b,8\n'}, _battles("b.csv")),
    "battles in lines": Format(
        {
            "b.jsonl": _lines(
                {"left": "a", "right": "b", "winner": "left", "prompt": 7},
                {"left": "b", "right": 3, "winner": "Tie (both)", "prompt": "x"},
            )
        },
        _battles("b.jsonl"),
    ),
    "dialogbench": Format(
        {"MRG.json": _lines(_RECORD, _RECORD | {"id": 5, "option": [{"1": "x"}, {"2": "y"}], "label": 2})}, _dialogbench
    ),
    "published dialogues": Format(
        {"c.tsv": "\n".join("\t".join(map(str, row)) for row in _CONVERSATIONS).encode()}, _published_dialogues("c.tsv")
    ),
    "published dialogues in a workbook": Format({"c.xlsx": _workbook(*_CONVERSATIONS)}, _published_dialogues("c.xlsx")),
    "published verdicts": Format(
        {
            "u.tsv": b"model\tqidx\tindex\tconversation\tgpt4\n"
            + f'GPT\tMT-1\tMT-1;GPT\t{json.dumps(_TALK)}\t"Choice: Yes\nIndex: 3"\n'.encode()
        },
        _published_answers("u.tsv", None),
    ),
    "published pairs": Format(
        {
            "g.tsv": b"cmp_index\tA\tB\tconversation1\tconversation2\tgpt4\n"
            + f"MT-1;GPT;GT\tGPT\tGT\t{json.dumps(_TALK)}\t[]\tEM\n".encode()
        },
        _published_answers("g.tsv", "human"),
    ),
    "damaged turns": Format(
        _turn_set("contradiction", b"c-0\tWho?\tInes.\nc-1\tAlone.\n", b"c-0\tWho?\tNot\tInes.\nc-1\tNot alone.\n")
        | _turn_set("repetition", b"r-0\tA\tB\tC.\n", b"r-0\tA\tB\tC. C.\n"),
        _robustness,
    ),
    "damaged dialogues": Format(
        {ORIGINALS_FILE: _json([["Hi!", "Hey.", "Rain?"], ["Sun?", "Both."]])}
        | _dialogue_set("order_shuffle")
        | _dialogue_set("utterance_duplication", in_cycles=True)
        | _dialogue_set("repeating_others"),
        _robustness,
    ),
    **{
        f"transcripts of {name}": Format({example.name: example.content}, _transcripts(example.name))
        for name, example in EXAMPLES.items()
    },
}

"""Records in all their spellings, each with the dialogues that are read from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.readers import read
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError


@dataclass(frozen=True)
class Case:
    """A file and its dialogues.

    Attributes:
        content: text as it is, else JSON.
        dialogues: as `shown` writes them.
        name: of the file.
        columns: fields that the configuration names.
        note: a remark that is counted once.
        about: fields of the first dialogue.
    """

    content: Any
    dialogues: tuple[str, ...]
    name: str = "chats.json"
    columns: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)


def shown(one: Transcript) -> str:
    """Return utterances with their speakers, and hidden messages with their kinds, in order."""
    spoken = [(n, 1, f"{who}: {text}") for n, (who, text) in enumerate(zip(one.speakers, one.utterances, strict=True))]
    hidden = [(message.before, 0, f"[{message.kind}] {message.text}") for message in one.hidden_messages]
    return " | ".join(text for *_, text in sorted([*spoken, *hidden], key=lambda line: line[:2]))


def written(folder: Path, content: Any, name: str = "chats.json") -> Path:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder / name


def case(content: Any, *dialogues: str, **more: Any) -> Case:
    return Case(content, dialogues, **more)


def utterances_of(*texts: str) -> list[dict[str, str]]:
    """Return messages that are written `role: text`."""
    return [dict(zip(("role", "content"), text.split(": ", 1), strict=True)) for text in texts]


def messages(*texts: str, **more: Any) -> dict[str, Any]:
    return {"messages": utterances_of(*texts), **more}


def entries(*of_speakers: dict[str, Any]) -> list[dict[str, Any]]:
    texts = ("Where?", "And when?", "There.")
    return [{"messages": [{**one, "content": text} for one, text in zip(of_speakers, texts, strict=True)]}]


def tree(*parents: tuple[str, str | None, str, str], **named: str) -> list[dict[str, Any]]:
    found = [{"id": own, "parent_id": above, "role": who, "content": text} for own, above, who, text in parents]
    return [{"messages": [one | ({"name": named[one["id"] or ""]} if named else {}) for one in found]}]


def marked(*texts: str) -> str:
    return "".join(f"\n\n{('Human', 'Assistant')[n % 2]}: {text}" for n, text in enumerate(texts))


ACTS = [{"id": "teacher", "text": "Hi"}, {"id": "heron", "text": "Hello"}, {"id": "teacher", "text": "Why?"}]
TALK = "Ann: Good morning.\r\nIs there milk?\nBob 2: Behind: the jam.\nAnn: Thanks."
IN_TALK = "Ann: Good morning.\nIs there milk? | Bob 2: Behind: the jam. | Ann: Thanks."
UNNAMED = "dialogues without names of speakers, read as two alternating speakers, A and B"
ASKED, GREETED = "user: Where? | assistant: There.", "user: Hi | assistant: Yo"
THERE = {"role": "assistant", "content": "There."}
TWO = "user: Where? | assistant: Mill.", "user: Where? | assistant: No."
SESSIONS = (("1", "2", "Thanks", "Bye"), ("1", "1", "Where?", "There."), ("2", "1", "Hi", "Yo"))
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "Be brief."},
    {"type": "human", "content": "Where?"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {"bird": "heron"}, "type": "tool_call"}]},
    {"type": "tool", "content": "mill", "tool_call_id": "x"},
    {"type": "ai", "content": "There."},
]
IN_LANGCHAIN = (
    '[system] Be brief. | human: Where? | [tool_call] look({"bird": "heron"}) | [tool_result] mill | ai: There.'
)
GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Where?"}, {"inlineData": {"mimeType": "image/png"}}]},
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"functionCall": {"name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"at": "mill"}}}]},
        {"role": "model", "parts": [{"text": "There."}]},
    ],
}
OF_RESPONSES = {
    "request": {"model": "heron", "input": "Where?"},
    "response": {"model": "heron", "output": [
        {"type": "function_call", "name": "find", "arguments": '{"bird": "heron"}'},
        {"type": "function_call_output", "output": "mill"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There."}]},
    ]},
}  # fmt: skip
ACTIVITIES = [
    {"type": "conversationUpdate", "from": {"id": "1", "role": "bot"}, "membersAdded": []},
    {"type": "message", "from": {"id": "1", "role": "user"}, "text": "Hi"},
    {"type": "message", "from": {"id": "2", "role": "bot"}, "text": "Yo"},
]

IN_OTHER_FIELDS: list[tuple[str, Any, Any, tuple[str, str]]] = [
    ("sender_name", "Ann", "Bob", ("Ann", "Bob")), ("agent", "agent_1", "agent_2", ("agent_1", "agent_2")),
    ("creator", {"name": "Ann"}, {"name": "B"}, ("Ann", "B")), ("speaker_id", 0, 1, ("0", "1")),
    ("author", {"id": 1, "name": "Ann"}, {"id": 2, "name": "B"}, ("Ann", "B")),
    ("is_user", True, False, ("user", "assistant")), ("isBot", False, True, ("user", "assistant")),
    ("type", "human", "ai", ("human", "ai")),
]  # fmt: skip
IN_FULL_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"text": "", "content": "There."}, ASKED),
    ({"text": None, "content": "There."}, ASKED),
    (
        {"text": "Hm. There.",
         "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "There."}]},
        "user: Where? | [reasoning] Hm. | assistant: There.",
    ),
]  # fmt: skip
PREFERRED: list[dict[str, Any]] = [
    {"prompt": "Where?", "chosen": "Mill.", "rejected": "No."},
    {"prompt": utterances_of("user: Where?"), "chosen": utterances_of("assistant: Mill."), "rejected": "No."},
    {"prompt": "Where?", "chosen": utterances_of("user: Where?", "assistant: Mill."), "rejected": "No."},
    {"question": "Where?", "chosen": "Mill.", "rejected": "No."},
    {"instruction": "Where?", "chosen": "Mill.", "rejected": "No."},
    {"input": "Where?", "chosen": "Mill.", "rejected": "No."},
]  # fmt: skip

CASES = {
    # lists that are no plain dialogue, and who says what
    "lists by field": case(
        [{"dialogue_id": "7", "turns": {"turn_id": ["0", "1"], "speaker": [0, 1], "utterance": ["Hi", "Yo"]}}],
        "0: Hi | 1: Yo",
    ),
    "dialogues by their ids": case(
        {name: {"config": "C", "talk": [{"message": name, "agent": "agent_1"}]} for name in ("t_1", "t_2")},
        "agent_1: t_1", "agent_1: t_2", columns={"utterances": "talk", "speaker": "agent"},
        about={"dialogue_id": "t_1"},
    ),
    "exchanges of acts": case([{"dialog": [ACTS[:2], ACTS[2:]]}], "teacher: Hi | heron: Hello | teacher: Why?"),
    "ids of named speakers": case(
        [{"dialogue": ACTS, "speakers": ["teacher", "heron"]}], "teacher: Hi | heron: Hello | teacher: Why?"
    ),
    "ids are no speakers": case([{"dialogue": ACTS}], "A: Hi | B: Hello | A: Why?"),
    "numbers of speakers": case([{"dialog": [[0, "Hi"], [1, "Hello"]]}], "0: Hi | 1: Hello"),
    "dream": case([[["M: Hi", "W: Hello"], [{"question": "Who?"}], "4-1"]], "M: Hi | W: Hello",
                  about={"dialogue_id": "4-1"}),
    "turns": case([{"dialogue_id": 1, "turns": [{"speaker": "USER", "utterance": "Hi"}]}], "USER: Hi"),
    "lists without a name": case([utterances_of("user: Hi", "bot: Yo")] * 2, *["user: Hi | bot: Yo"] * 2),
    "texts": case([["Hi", "Hello"]], "A: Hi | B: Hello"),
    "pairs": case([{"messages": [["Human", "Hi"], ["Assistant", "Hello"]]}], "Human: Hi | Assistant: Hello"),
    "within another object": case(
        [{"id": "7", "conversation": {"topic": "x", **messages("user: Hi", "bot: Yo")}}], "user: Hi | bot: Yo",
        about={"dialogue_id": "7"},
    ),
    "JSON in a text": case(
        [{"call_id": "7", "messages": json.dumps(utterances_of("user: Where?", "assistant: There."))}], ASKED,
        about={"dialogue_id": "7"},
    ),
    **{
        f"numbered {names[0]}": case(
            [{"dialogue": {names[n]: {"role": "ab"[n], "text": f"{n}"} for n in (1, 0)}}], "a: 0 | b: 1"
        )
        for names in (("2", "10"), ("turn_2", "turn_10"))
    },
    **{
        f"exchanges {asked}": case([{"conversation": [{asked: "Where?", answered: "There."}]}], ASKED)
        for asked, answered in (
            ("input", "output"), ("question", "answer"), ("prompt", "response"), ("transcript", "system_transcript"),
            ("user_utterance", "system_utterance"),
        )
    },
    "exchanges of roles": case([{"conversation": [{"human": "Where?", "bot": "There."}]}],
                               "human: Where? | bot: There."),
    "an exchange without an answer": case(
        [{"conversation": [{"prompt": "Where?", "response": "There."}, {"prompt": "Thanks", "response": ""}]}],
        f"{ASKED} | user: Thanks",
    ),
    **{
        texts[0]: case([{"dialogue": texts}], " | ".join(found))
        for texts, found in (
            (["customer: Hi", "agent: Hello"], ["customer: Hi", "agent: Hello"]),
            (["patient: It hurts: here", "doctor: Why?"], ["patient: It hurts: here", "doctor: Why?"]),
            (["x: a", "y: b", "x: c"], ["x: a", "y: b", "x: c"]),
            (["Well: no", "Then: yes"], ["A: Well: no", "B: Then: yes"]),
            (["Note: no", "Note: yes"], ["A: Note: no", "B: Note: yes"]),
            (["Ann: no", "yes"], ["A: Ann: no", "B: yes"]),
        )
    },
    **{f"text in {name}": case([{"id": "7", name: TALK}], IN_TALK) for name in ("dialogue", "conversation")},
    "text in another field": case([{"id": "7", "said": TALK}], IN_TALK, columns={"utterances": "said"}),
    "text in a cell": case(f'id,dialogue,summary\n7,"{TALK}",Milk.\n', IN_TALK, name="chats.csv"),
    "numpy's texts in a cell": case(
        'dialog,id\n"[\'Where?\'\n ""On the mill, I\'d say.""]",1\n',
        "A: Where? | B: On the mill, I'd say.", name="d.csv"
    ),
    "numpy's objects in a cell": case(
        "messages,id\n\"[{'role': 'user', 'content': 'Hi'}\n {'role': 'bot', 'content': 'Ho [1]'}]\",1\n",
        "user: Hi | bot: Ho [1]", name="c.csv",
    ),
    "commas by another name": case(
        "conv_id,utterance_idx,speaker_idx,utterance\nhit:0,1,3,Yes_comma_ there.\nhit:0,2,2,Where?\n",
        "3: Yes, there. | 2: Where?", name="train.csv",
        note="texts in which _comma_, as EmpatheticDialogues writes it, is read as a comma",
    ),
    # plain text
    "__eou__": case("Hi , you . __eou__ Yo . __eou__\nSo ? __eou__ No . __eou__\n", "A: Hi , you . | B: Yo .",
                    "A: So ? | B: No .", name="talk.txt"),
    "blank lines between dialogues": case("A: Hi.\nB: Yo.\n\nA: So?\nB: No.\n", "A: Hi. | B: Yo.", "A: So? | B: No.",
                                          name="talk.txt"),
    "lines that go on": case("\ufeffA: Hi, you.\nand you.\n\nmore\nB: Yo: 3 of 4.\n",
                             "A: Hi, you.\nand you.\nmore | B: Yo: 3 of 4.", name="talk.txt"),
    "blank lines between utterances": case("A: Hi.\n\nB: Yo.\n\nA: So?\n", "A: Hi. | B: Yo. | A: So?", name="talk.txt"),
    "names of people": case("Dr. Ann O'Neil: Hi\nHuman 2: Yo\n客服: 好\n",
                            "Dr. Ann O'Neil: Hi | Human 2: Yo | 客服: 好", name="talk.txt"),
    "parlai": case(
        "1 your persona: I like tea.\n2 partner's persona: I like jam.\n3 Hi .\tYo .\t\tNo .|Yo .\n4 Tea ?\tYes .\n"
        "1 your persona: I am new.\n2 __SILENCE__\tYo .\t\tNo .|Yo .\n3 Hi .\tSo ?\n",
        "A: Hi . | B: Yo . | A: Tea ? | B: Yes .", "B: Yo . | A: Hi . | B: So ?", name="train.txt",
    ),
    **{
        f"lines with times and marks {n}": case(text, "Ann: Hi | Bot: Yo", name=name)
        for n, (text, name) in enumerate([
            ("[00:00:01] Ann: Hi\n[00:00:05] Bot: Yo\n", "talk.txt"), ("00:01 Ann: Hi\n00:05 Bot: Yo\n", "talk.txt"),
            ("[10:15] <Ann> Hi\n[10:16] <Bot> Yo\n", "talk.txt"), ("**Ann**: Hi\n**Bot**: Yo\n", "talk.md"),
            ("# A talk\n\n**Ann:** Hi\n\n**Bot:** Yo\n", "talk.md"),
        ])
    },
    # speakers in other fields
    **{
        f"speakers in {name}": case(
            entries(*({name: value} for value in (first, first, second))),
            f"{speakers[0]}: Where? | {speakers[0]}: And when? | {speakers[1]}: There.",
        )
        for name, first, second, speakers in IN_OTHER_FIELDS
    },
    "no speaker": case(entries({}, {}, {}), "A: Where? | B: And when? | A: There.", note=UNNAMED),
    "roles of others": case(
        [{"dialog": [{"sender": w, "sender_class": r, "text": "Hi"} for w, r in (("p2", "Bot"), ("p1", "Human"))]}],
        "Bot: Hi | Human: Hi",
    ),
    "two people of one role": case(
        [{"dialog": [{"sender": who, "sender_class": "Human", "text": "Hi"} for who in ("p2", "p1")]}],
        "p2: Hi | p1: Hi",
    ),
    "a system that answers": case([messages("USER: a", "SYSTEM: b", "USER: c")], "USER: a | SYSTEM: b | USER: c"),
    "a prompt": case([messages("system: a", "user: b", "assistant: c")], "[system] a | user: b | assistant: c"),
    "a late prompt": case([messages("user: a", "system: b", "assistant: c")], "user: a | [system] b | assistant: c"),
    "a prompt to people": case([messages("system: a", "user: b", "user: c")], "[system] a | user: b | user: c"),
    # messages of libraries and endpoints
    "langchain": case([{"messages": LANGCHAIN}], IN_LANGCHAIN),
    "langchain's dump": case([{"messages": [{"type": m["type"], "data": m} for m in LANGCHAIN]}], IN_LANGCHAIN),
    "gemini": case(
        [GEMINI],
        "[system] Be brief. | user: Where?\n[inlineData] | [reasoning] Hm. | [tool_call] look({}) | "
        '[tool_result] {"at": "mill"} | model: There.',
    ),
    "an object as a text": case(
        [{"messages": [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": {"answer": "There."}}]}],
        ASKED,
    ),
    "openai's threads": case(
        [{"messages": [{"role": "user", "content": [{"type": "text", "text": {"value": "Where?"}}]}]}], "user: Where?"
    ),
    "styles": case(
        [{"messages": [{"from": "Ann", "text": ["On the ", {"type": "bold", "text": "old"}, " mill."]}]}],
        "Ann: On the old mill.",
    ),
    "claude's export": case(
        [{"uuid": "c1", "chat_messages": [{"uuid": who, "text": who, "sender": who} for who in ("human", "bot")]}],
        "human: human | bot: bot", about={"dialogue_id": "c1"},
    ),
    "a prompt in parts": case(
        [messages("user: Where?", "assistant: There.", model="m", system=[{"type": "text", "text": "Be brief."}])],
        f"[system] Be brief. | {ASKED}", about={"system": "m"},
    ),
    **{
        f"text in the full field {n}": case(
            [{"messages": [{"role": "user", "content": "Where?"}, {"role": "assistant", **answer}]}], found
        )
        for n, (answer, found) in enumerate(IN_FULL_FIELDS)
    },
    "activities": case(
        ACTIVITIES, "user: Hi | bot: Yo",
        note="entries without text that are no messages, such as events, left out",
    ),
    "notes": case(
        [{"messages": [{"type": k, "role": "agent", "content": k} for k in ("message", "note", "message")]}],
        "agent: message | agent: message", note="internal notes left out",
    ),
    "tools in parts": case(
        [{"messages": [
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "One moment."},
                {"type": "tool_use", "name": "find", "input": {"order": 7}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "content": "Ulm"}]},
        ]}],
        '[reasoning] Hm. | [tool_call] find({"order": 7}) | assistant: One moment. | [tool_result] Ulm',
    ),
    **{
        f"sharegpt with {system}": case(
            [{"system": system, "conversations": [
                {"from": who, "value": who} for who in ("human", "function_call", "observation", "gpt")
            ]}],
            f"{prompt}human: human | [tool_call] function_call | [tool_result] observation | gpt: gpt",
            about={"system": named},
        )
        for system, prompt, named in (("You are kind", "[system] You are kind | ", ""), ("alpha-7b", "", "alpha-7b"))
    },
    # the plain format
    "user and system": case(
        [{"utterances": [{"speaker": "USER", "text": "a"}, {"speaker": "SYSTEM", "text": "b"}]}], "USER: a | SYSTEM: b"
    ),
    "user, system and assistant": case(
        [{"utterances": [{"speaker": who, "text": "a"} for who in ("USER", "SYSTEM", "Assistant")]}],
        "USER: a | [system] a | Assistant: a",
    ),
    "plain texts": case([{"utterances": ["Hi.", "Yo.", " ", "So?"]}], "A: Hi. | B: Yo. | B: So?"),
    "plain texts of named speakers": case(
        [{"utterances": ["Hi.", "Yo.", "So?"], "speakers": ["user", "bot"]}], "user: Hi. | bot: Yo. | user: So?"
    ),
    "a reference": case(
        [{"utterances": ["Hi.", "Yo."], "reference": ["So.", "No."]}], "A: Hi. | B: Yo.",
        about={"reference": (("A", "B"), ("So.", "No."))},
    ),
    "another last utterance": case(
        [{"utterances": ["Hi.", "Yo."], "reference": "Bye."}], "A: Hi. | B: Yo.",
        about={"reference": (("A", "B"), ("Hi.", "Bye."))},
    ),
    # tables
    "turns apart": case(
        "dialogue_id,model,turn,role,text,lang\n1,a,2,assistant,later,de\n2,a,1,user,other,\n1,a,1,user,first,de\n",
        "user: first | assistant: later", "user: other", name="t.csv", about={"language": "de"},
        note="dialogues whose rows are not successive, joined by turn",
    ),
    "columns as spreadsheets spell them": case(
        "ID;Conversation ID;Bot;Turn #;Who;Message;Notes\n9;c1;Brix;2;Bot;Yo;ok\n8;c1;Brix;1;Ann;Hi;\n"
        "7;c2;Brix;1;Ann;So?;\n",
        "Ann: Hi | Bot: Yo", "Ann: So?", name="t.csv", about={"dialogue_id": "c1", "system": "Brix"},
    ),
    "columns in camel case": case("conversationId,modelName,turnIndex,messageText\n1,a,0,x\n", "A: x", name="t.csv",
                                  about={"dialogue_id": "1", "system": "a"}),
    "a name before one like it": case("id,Message #,message,who,对话\n1,2,Hi,bot,y\n", "bot: Hi", name="t.csv"),
    "named columns": case("nr,who,said\n1,bot,Hi\n", "bot: Hi", name="t.csv",
                          columns={"dialogue_id": "nr", "speaker": "who", "text": "said"}),
    "a column of dialogues": case(
        "Conversation,Time,Author,Message\nBirds,2024-01-01T10:00:00,Human,Hi\nBirds,2024-01-01T10:00:01,AI,Yo\n",
        "Human: Hi | AI: Yo", name="t.csv", about={"dialogue_id": "Birds"},
    ),
    "quotes without quoting": case(
        'conv_id,utterance_idx,speaker_idx,utterance\nhit:0,1,1,"No" she said_comma_ once.\nhit:0,2,0,"Why ""so""?"\n'
        'hit:0,3,1,"Because',
        '1: "No" she said, once. | 0: Why "so"? | 1: "Because', name="t.csv",
        note="tables whose quotes are text, such as t.csv",
    ),
    # branches
    "the branch that ends last": case(
        tree(("a", None, "user", "Where?"), ("b", "a", "assistant", "No."), ("c", "a", "assistant", "There."),
             ("d", "c", "user", "Why?")),
        f"{ASKED} | user: Why?", note="dialogues with several branches: the latest branch is read",
    ),
    "answers of several people": case(
        tree(("a", None, "ann", "Where?"), ("b", "a", "bob", "There."), ("c", "a", "cy", "Here.")),
        "ann: Where? | bob: There. | cy: Here.",
    ),
    "answers of named bots": case(
        tree(("a", None, "user", "Where?"), ("b", "a", "bot", "There."), ("c", "a", "bot", "Here."),
             a="ann", b="x", c="y"),
        "user: Where? | bot: There. | bot: Here.",
    ),
    # a reply and what came before it
    **{
        f"{asked} and {answered}": case([{asked: "Where?", answered: "There."}], ASKED)
        for asked, answered in (("instruction", "output"), ("prompt", "response"), ("prompt", "completion"))
    },
    "context of texts": case([{"context": ["Hi", "Yo", "Where?"], "response": "There."}], f"{GREETED} | {ASKED}"),
    "context of messages": case([{"context": utterances_of("user: Where?"), "response": "There."}], ASKED),
    "context beside a number": case([{"context": "Where?", "response": "There.", "": 1.5}], ASKED),
    "input of an instruction": case([{"instruction": "Sum up.", "input": "A text.", "output": "So."}],
                                    "user: Sum up.\n\nA text. | assistant: So."),
    "context of an instruction": case([{"instruction": "Where?", "context": "A mill.", "response": "There."}],
                                      "user: Where?\n\nA mill. | assistant: There."),
    "history in pairs": case([{"history": [["Hi", "Yo"]], "instruction": "Where?", "input": "", "output": "There."}],
                             f"{GREETED} | {ASKED}"),
    "context of roles": case(
        [{"context": "User: Hi\nSystem: Yo\nUser: Where?", "response": "System: There.", "annotations": {},
          "system": "m"}],
        f"{GREETED} | {ASKED}",
        note="objects of a rated corpus, read without ratings; to read the ratings, set reader fed_turn or "
        "fed_dialogue for this path under metaeval.corpora",
    ),
    "context of names": case(
        [{"context": "Ann: Hi\nBob: Yo", "response": "System: There."}],
        "user: Ann: Hi\nBob: Yo | assistant: System: There.",
    ),
    "answers of several models": case(
        [{"prompt": "Where?", "answers": [{"answer": "Mill.", "model": "a"}, {"answer": "No.", "model": "b"}]}], *TWO,
        about={"system": "a"},
    ),
    "replies within two objects": case(
        {"evalId": "e", "results": {"version": 3, "results": [
            {"prompt": {"raw": "Where?"}, "response": {"output": text}, "provider": {"id": text}}
            for text in ("Mill.", "No.")
        ]}},
        *TWO, columns={"prompt": "prompt.raw", "response": "response.output", "system": "provider.id"},
        about={"model": "", "system": "Mill."},
    ),
    "rows of replies": case(
        'prompt,response,model\n"[sic] Where, please?",Mill.,heron\n', "user: [sic] Where, please? | assistant: Mill.",
        name="replies.csv", about={"system": "heron"},
    ),
    "more than two replies": case(
        [{"prompt": "Where?", "response_0": "Mill.", "response_1": "No.", "response_2": "No.", "response_id": 7}],
        *TWO, TWO[1], about={"system": "response_0"},
    ),
    **{
        f"a request and its response in {name}": case(
            [{"request": request, "response": {"id": "c1", "model": "m-7", **response}}],
            f"[system] Be kind. | {ASKED}",
            about={"system": "m-7"},
        )
        for name, request, response in (
            ("choices", messages("system: Be kind.", "user: Where?"), {"choices": [{"message": THERE}]}),
            ("content", messages("user: Where?", system="Be kind."), {"content": [{"type": "text", "text": "There."}]}),
            ("output", {"instructions": "Be kind.", "input": "Where?"},
             {"output": [{"type": "message", **THERE, "content": [{"type": "output_text", "text": "There."}]}]}),
        )
    },
    "calls in a response": case(
        [OF_RESPONSES], 'user: Where? | [tool_call] find({"bird": "heron"}) | [tool_result] mill | assistant: There.'
    ),
    "several choices": case(
        [{"request": messages("user: Where?"), "response": {"choices": [{"message": THERE}, {"message": THERE}]}}],
        ASKED, note="responses with several choices, of which the first is read",
    ),
    # replies of one conversation
    **{
        f"a session in {ending} with columns {sorted(columns)}": case(
            content, f"{ASKED} | user: Thanks | assistant: Bye", "user: Hi | assistant: Yo", name=f"log.{ending}",
            columns=columns, note="conversations of several replies, joined by turn",
        )
        for columns, names in (
            ({}, ("session", "turn", "user_message", "bot_response")),
            ({"turn": "nr"}, ("session", "nr", "user_message", "bot_response")),
            ({"dialogue_id": "Fall", "turn": "Nr.", "prompt": "Frage", "response": "Ab"},
             ("Fall", "Nr.", "Frage", "Ab")),
        )
        for ending, content in (
            ("csv", "\n".join(map(",".join, (names, *SESSIONS)))),
            ("json", [dict(zip(names, row, strict=True)) for row in SESSIONS]),
        )
    },
    "sessions of two systems": case(
        [{"session": "1", "system": name, "prompt": text, "response": name} for name in "ab" for text in ("Hi", "So?")],
        "user: Hi | assistant: a | user: So? | assistant: a", "user: Hi | assistant: b | user: So? | assistant: b",
    ),
    "replies without a session": case(
        [{"session_id": None, "model": "m", "prompt": text, "response": "Yes."} for text in ("Hi", "So?")],
        "user: Hi | assistant: Yes.", "user: So? | assistant: Yes.",
    ),
    "a turn twice": case(
        [{"session_id": 1, "turn": 1, "prompt": text, "response": "Yes."} for text in ("Hi", "So?")],
        "user: Hi | assistant: Yes. | user: So? | assistant: Yes.",
        note="conversations of several replies, joined in the file's order",
    ),
    "replies with their history": case(
        [{"session_id": 7, "history": [], "prompt": "Hi", "response": "Yo"},
         {"session_id": 7, "history": [["Hi", "Yo"]], "prompt": "Where?", "response": "There."}],
        GREETED, f"{GREETED} | {ASKED}",
    ),
    "replies to one prompt": case(
        [{"session_id": 7, "prompt": "Where?", "response": text} for text in ("Mill.", "No.")], *TWO
    ),
    **{
        f"conversations by {name}": case(
            [{name: n, "prompt": text, "response": "Yo"} for n, text in ((7, "Hi"), (8, "Hi"), (7, "So?"))],
            "user: Hi | assistant: Yo | user: So? | assistant: Yo", "user: Hi | assistant: Yo",
        )
        for name in ("session_id", "conversationId", "Chat ID")
    },
    # marks of speakers
    **{
        f"prompt with marks {n}": case([{"prompt": prompt, "completion": " There."}], found)
        for n, (prompt, found) in enumerate([
            (marked("Hi", "Yo", "Where?") + "\n\nAssistant:",
             "human: Hi | assistant: Yo | human: Where? | assistant: There."),
            ("Hi\n<extra_id_1>Assistant\nYo\n<extra_id_1>User\nWhere?", f"{GREETED} | {ASKED}"),
            ("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYo<|im_end|>\n<|im_start|>user\nWhere?<|im_end|>",
             f"{GREETED} | {ASKED}"),
        ])
    },
    **{
        f"marks {n}": case([{"text": text}], f"{who}: Hi | assistant: Yo | {who}: So")
        for n, (who, text) in enumerate([
            ("human", "Human: Hi\nAssistant: Yo\nHuman: So"),
            ("human", marked("Hi", "Yo", "So")),
            ("user", "USER: Hi ASSISTANT: Yo</s>USER: So"),
            ("human", "### Human: Hi### Assistant: Yo### Human: So"),
        ])
    },
    **{
        f"no mark in {reply}": case([{"prompt": "Where?", "response": reply}], f"user: Where? | assistant: {reply}")
        for reply in ("Agent: Stop!\nThief: No!", "Sure:\nHuman: Hi\nAssistant: Yo", "Here.\n\nHuman: Really?")
    },
    # names of systems and cases
    **{
        f"case {n}": case(
            [{"id": 1, "conversations": [{"from": "user", "value": "Hi"}, {"from": "gpt", "value": "Yo"}], **about}],
            "user: Hi | gpt: Yo",
            about={"dialogue_id": "1", "system": "heron", "case_id": "q7"},
        )
        for n, about in enumerate(
            [{"model": "heron", "prompt_id": "q7"}, {"system_name": "heron", "scenario_id": "q7"}]
        )
    },
    **{
        f"case of a comparison {name}": case(
            [{name: "s1", "prompt": "Where?", "model_a": "heron", "response_a": "Mill.", "model_b": "reed",
              "response_b": "No."}],
            "user: Where? | assistant: Mill.", "user: Where? | assistant: No.",
            about={"dialogue_id": "pair-1", "system": "heron", "case_id": "s1"},
        )
        for name in ("case_id", "scenario_id", "seed_id")
    },
    # preferences
    **{
        f"preferred {n}": case([{"prompt_id": "q7", **record}], *TWO, about={"dialogue_id": "q7", "system": "chosen"})
        for n, record in enumerate(PREFERRED)
    },
    **{
        f"preferred after a mark {n}": case(
            [{"prompt": prompt, "chosen": " Mill.", "rejected": " No."}], *(one.replace("user", "human") for one in TWO)
        )
        for n, prompt in enumerate([marked("Where?"), marked("Where?") + "\n\nAssistant:"])
    },
    "preferred with a prompt": case(
        [{"system": "You are kind.", "prompt": "Where?", "chosen": "Mill.", "rejected": "No."}],
        *(f"[system] You are kind. | {one}" for one in TWO),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_dialogues_of_a_record(tmp_path: Path, name: str) -> None:
    one = CASES[name]
    notes: Counter[str] = Counter()
    found = list(read(written(tmp_path, one.content, one.name), "auto", one.columns, notes))
    assert [shown(transcript) for transcript in found] == [*one.dialogues]
    assert {field: getattr(found[0], field) for field in one.about} == one.about
    assert not one.note or notes[one.note] == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([{"messages": [["Hi", "Hello"], ["Why?", "So."]]}], "entry 1 must be a text or an object"),
        ([{"dialogue": "Ann: Hi. Bob: Hello."}], r"record 1: 'dialogue' must be a list of utterances, not \"Ann: Hi"),
        ("\nHello\nA: Hi\n", "chats.json, line 2: no speaker before 'Hello'; write `Ann: ...`"),
        ("1 Hi .\tYo .\nTea ?\tYes .\n", "chats.json, line 2: no number before 'Tea .*'; write `1 Hi<TAB>Hello`"),
        ([{"chosen": 3, "rejected": "x"}], "record 1, 'chosen' must be a text or a list of messages, not 3"),
        ([{"chosen": "x", "rejected": None}], "record 1, 'rejected' must be a text or a list"),
        ([{"prompt": "Hi", "response": None}], "record 1: 'response' must be a text or a list of messages, not None"),
        ([{"prompt": 3, "response": "x"}], "record 1: 'prompt' is 3; it must be a text or a list of them"),
        ([{"context": {"a": 1}, "response": "x"}], "record 1: 'context' is {'a': 1}; it must be"),
        ([{"instruction": "Hi", "completions": ["x"]}], "'completions' must be a list of objects with 'model'"),
        ([{"sender_id": "c1", "events": ["user: hi"]}], "record 1: 'events' must be a list of objects"),
    ],
)
def test_a_record_without_a_dialogue_is_refused(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(read(written(tmp_path, content), "text" if isinstance(content, str) else "auto", {}, Counter()))

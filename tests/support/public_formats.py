"""A small file in each format of a data set or application, in our own words, and the dialogues in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

ASKED, ANSWERED = "Where do herons nest?", "On the old mill."
MORE, LAST = "Since when?", "Since spring."
EXCHANGE = (("user", ASKED), ("assistant", ANSWERED))
FOUR = (*EXCHANGE, ("user", MORE), ("assistant", LAST))


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


@dataclass(frozen=True)
class Example:
    """A file and its first dialogue.

    Attributes:
        content: the file.
        turns: speakers and texts.
        dialogue_id: empty where the file has none.
        system: the system, or the model; empty where the file names none.
        hidden_messages: the kinds of the hidden messages.
        n: dialogues in the file.
        name: of the file.
    """

    content: bytes
    turns: tuple[tuple[str, str], ...]
    dialogue_id: str = ""
    system: str = ""
    hidden_messages: tuple[str, ...] = ()
    n: int = 1
    name: str = "chats.json"


def _as(first: str, second: str, pairs: tuple[tuple[str, str], ...] = FOUR) -> tuple[tuple[str, str], ...]:
    names = {"user": first, "assistant": second}
    return tuple((names[who], text) for who, text in pairs)


def _message(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "created_at": number, **fields}


_TIME = "Tue Oct 31 22:{:02}:00 +0000 2017"
_ABCD = {
    "convo_id": 7,
    "scenario": {"flow": "birds"},
    "original": [["customer", ASKED], ["agent", ANSWERED], ["action", "The mill has been looked up."]],
    "delexed": [{"speaker": "customer", "text": "where?", "candidates": [1, 2]}],
}
_WEBUI = {
    "m1": {"id": "m1", "parentId": None, "childrenIds": ["m2", "m3"], "role": "user", "content": ASKED},
    "m2": {"id": "m2", "parentId": "m1", "childrenIds": [], "role": "assistant", "content": "No.", "model": "reed"},
    "m3": {"id": "m3", "parentId": "m1", "childrenIds": [], "role": "assistant", "content": ANSWERED, "model": "heron"},
}
_LIBRE = [
    {"messageId": "a", "parentMessageId": "0", "sender": "User", "text": ASKED, "isCreatedByUser": True},
    {"messageId": "b", "parentMessageId": "a", "sender": "Heron", "text": "No.", "isCreatedByUser": False},
    {
        "messageId": "c",
        "parentMessageId": "a",
        "sender": "Heron",
        "text": "",
        "content": [{"type": "text", "text": {"value": ANSWERED}}],
        "isCreatedByUser": False,
        "model": "heron-7b",
    },
]
_DISCORD = [
    {"type": "Default", "content": ASKED, "author": {"name": "ann", "isBot": False}},
    {"type": "GuildMemberJoin", "content": "Joined the server.", "author": {"name": "bob", "isBot": False}},
    {"type": "Reply", "content": ANSWERED, "author": {"name": "heron", "isBot": True}},
]
_CALL = [
    {"role": "user", "message": ASKED, "content": ASKED},
    {"role": "tool_calls", "message": "", "toolCalls": [{"function": {"name": "look", "arguments": "{}"}}]},
    {"role": "tool_call_result", "name": "look", "result": "mill", "content": "mill"},
    {"role": "bot", "message": ANSWERED},
]
_TOOLS = ("tool_call", "tool_result")

_NODES = {
    "root": {"parent": None, "message": None},
    "m1": {"parent": "root", "message": {"author": {"role": "user"}, "content": {"parts": [ASKED]}}},
    "m2": {"parent": "m1", "message": {"author": {"role": "assistant"}, "content": {"parts": ["No."]}}},
    "m3": {"parent": "m1", "message": {"author": {"role": "assistant"}, "content": {"parts": [ANSWERED]}}},
}
_EVENTS = [
    {"event": "action", "name": "action_session_start"},
    {"event": "user", "text": ASKED, "parse_data": {"intent": {"name": "where"}}},
    {"event": "slot", "name": "order", "value": 7},
    {"event": "action", "name": "action_find"},
    {"event": "action", "name": "utter_place"},
    {"event": "bot", "text": ANSWERED},
    {"event": "bot", "text": None, "data": {"image": "map.png"}},
]
_PATHS = [
    {"message_id": "t", "parent_id": None, "role": "prompter", "text": ASKED, "message_tree_id": "t"},
    {"message_id": "m1", "parent_id": "t", "role": "assistant", "text": ANSWERED, "model_name": "heron"},
    {"message_id": "m2", "parent_id": "t", "role": "assistant", "text": "No.", "deleted": True},
    {"message_id": "m3", "parent_id": "t", "role": "assistant", "text": "In a tree."},
]
_PARTS = [
    {"part_type": "comment", "body": f"<p>{ANSWERED}</p>", "author": {"type": "bot", "name": "heron"}},
    {"part_type": "assignment", "body": None, "author": {"type": "bot", "name": "heron"}},
    {"part_type": "note", "body": "<p>A regular.</p>", "author": {"type": "admin"}},
]

EXAMPLES: dict[str, Example] = {
    "chatgpt": Example(
        as_json([{"id": "c1", "mapping": _NODES, "current_node": "m3", "default_model_slug": "heron"}]),
        EXCHANGE,
        "c1",
        "heron",
    ),
    "rasa": Example(
        lines({"sender_id": "c1", "events": _EVENTS}, {"sender_id": 2, "events": _EVENTS}),
        _as("user", "bot", EXCHANGE),
        "c1",
        hidden_messages=("tool_call",),
        n=2,
    ),
    "oasst": Example(lines(*_PATHS), EXCHANGE, "m1", "heron", n=2),
    "oasst trees": Example(
        as_json({"message_tree_id": "t", "prompt": {**_PATHS[0], "replies": _PATHS[1:]}}),
        EXCHANGE,
        "m1",
        "heron",
        n=2,
    ),
    "intercom": Example(
        as_json(
            {
                "id": "c1",
                "source": {"body": f"<p>{ASKED}</p>", "author": {"type": "lead"}},
                "conversation_parts": {"conversation_parts": _PARTS},
            },
        ),
        _as("user", "bot", EXCHANGE),
        "c1",
        "heron",
    ),
    "coqa": Example(
        as_json(
            {
                "version": "1.0",
                "data": [
                    {
                        "id": "c1",
                        "story": "Herons have nested on the old mill since spring.",
                        "questions": [{"input_text": ASKED, "turn_id": 1}, {"input_text": MORE, "turn_id": 2}],
                        "answers": [
                            {"input_text": ANSWERED, "span_text": "on the old mill", "turn_id": 1},
                            {"input_text": LAST, "span_text": "since spring", "turn_id": 2},
                        ],
                        "additional_answers": {"0": [{"input_text": "The mill", "turn_id": 1}]},
                    }
                ],
            }
        ),
        FOUR,
        "c1",
        hidden_messages=("system",),
    ),
    "coqa rows": Example(
        lines({"story": "S.", "questions": [ASKED, MORE], "answers": {"input_text": [ANSWERED, LAST]}}),
        FOUR,
        hidden_messages=("system",),
    ),
    "quac": Example(
        as_json(
            {
                "data": [
                    {
                        "title": "Herons",
                        "section_title": "Nests",
                        "background": "Birds.",
                        "paragraphs": [
                            {
                                "id": "q1",
                                "context": "On the old mill. Since spring. CANNOTANSWER",
                                "qas": [
                                    {"question": ASKED, "orig_answer": {"text": ANSWERED}, "answers": [{"text": "x"}]},
                                    {"question": MORE, "answers": [{"text": LAST}, {"text": "spring"}]},
                                ],
                            }
                        ],
                    }
                ]
            }
        ),
        FOUR,
        "q1",
        hidden_messages=("system",),
    ),
    "quac rows": Example(
        lines(
            {
                "dialogue_id": "q1",
                "context": "On the mill.",
                "questions": [ASKED, MORE],
                "answers": {"texts": [["x"], ["y"]]},
                "orig_answers": {"texts": [ANSWERED, LAST]},
            }
        ),
        FOUR,
        "q1",
        hidden_messages=("system",),
    ),
    "qrecc": Example(
        as_json(
            [
                {"Conversation_no": 7, "Turn_no": 2, "Question": MORE, "Answer": LAST, "Context": [ASKED, ANSWERED]},
                {"Conversation_no": 7, "Turn_no": 1, "Question": ASKED, "Answer": ANSWERED, "Context": []},
            ]
        ),
        FOUR,
        "7",
    ),
    "doc2dial": Example(
        as_json(
            {
                "dial_data": {
                    "mills": {
                        "The old mill": [
                            {
                                "dial_id": "d7",
                                "doc_id": "The old mill",
                                "turns": [
                                    {"turn_id": n, "role": who, "utterance": text}
                                    for n, (who, text) in enumerate(_as("user", "agent"))
                                ],
                            }
                        ]
                    }
                }
            }
        ),
        _as("user", "agent"),
        "d7",
    ),
    "moss": Example(
        lines(
            {
                "conversation_id": 3,
                "meta_instruction": "You are MOSS.",
                "num_turns": 2,
                "chat": {
                    "turn_2": {"Human": f"<|Human|>: {MORE}<eoh>\n", "MOSS": f"<|MOSS|>: {LAST}<eom>\n"},
                    "turn_1": {
                        "Human": f"<|Human|>: {ASKED}<eoh>\n",
                        "Inner Thoughts": "<|Inner Thoughts|>: I look it up.<eot>\n",
                        "Commands": '<|Commands|>: Search("heron")<eoc>\n',
                        "Tool Responses": "<|Results|>: mill<eor>\n",
                        "MOSS": f"<|MOSS|>: {ANSWERED}<eom>\n",
                    },
                },
            }
        ),
        FOUR,
        "3",
        "MOSS",
        ("system", "reasoning", *_TOOLS),
    ),
    "moss text": Example(
        lines({"num_turns": 1, "plain_text": f"[Human]: {ASKED}<eoh> [MOSS]: {ANSWERED}<eoa>"}), EXCHANGE, "", "MOSS"
    ),
    "abcd": Example(
        as_json({"train": [_ABCD], "dev": [_ABCD | {"convo_id": 8}], "test": [_ABCD | {"convo_id": 9}]}),
        _as("customer", "agent", EXCHANGE),
        "7",
        hidden_messages=("tool_call",),
        n=3,
    ),
    "persona_chat": Example(
        as_json(
            {
                "train": [
                    {
                        "personality": ["I like tea."],
                        "utterances": [
                            {"history": [ASKED], "candidates": ["No.", ANSWERED]},
                            {"history": [ASKED, ANSWERED, MORE], "candidates": ["Tea.", LAST]},
                        ],
                    }
                ],
                "valid": [
                    {"personality": [], "utterances": [{"history": ["__SILENCE__"], "candidates": ["No.", "Hello."]}]}
                ],
            }
        ),
        FOUR,
        hidden_messages=("system",),
        n=2,
    ),
    "persona_chat by field": Example(
        lines(
            {
                "personality": [],
                "utterances": {
                    "history": [[ASKED], [ASKED, ANSWERED, MORE]],
                    "candidates": [["No.", ANSWERED], ["No.", LAST]],
                },
            }
        ),
        FOUR,
    ),
    "persona_chat rows": Example(
        lines(
            {"conv_id": 0, "personality": ["Tea."], "history": [ASKED], "candidates": ["No.", ANSWERED]},
            {
                "conv_id": 0,
                "personality": ["Tea."],
                "history": [ASKED, ANSWERED, MORE],
                "candidates": ["No.", LAST],
            },
        ),
        FOUR,
        "0",
        hidden_messages=("system",),
    ),
    "multiwoz": Example(
        as_json(
            {
                f"PMUL{n}.json": {
                    "goal": {},
                    "log": [{"text": text, "metadata": {"hotel": {}} if who != "user" else {}} for who, text in FOUR],
                }
                for n in (1, 2)
            }
        ),
        FOUR,
        "PMUL1.json",
        n=2,
    ),
    "topical_chat": Example(
        as_json(
            {
                "t1": {
                    "config": "C",
                    "content": [{"agent": w, "message": t} for w, t in _as("agent_1", "agent_2")],
                    "conversation_rating": {},
                }
            }
        ),
        _as("agent_1", "agent_2"),
        "t1",
    ),
    "kvret": Example(
        as_json(
            [
                {
                    "dialogue": [{"turn": w, "data": {"utterance": t}} for w, t in _as("driver", "assistant")],
                    "scenario": {"uuid": "k1"},
                }
            ]
        ),
        _as("driver", "assistant"),
        "k1",
    ),
    "camrest": Example(
        as_json(
            [
                {
                    "dialogue_id": 0,
                    "dial": [
                        {"turn": 0, "usr": {"transcript": ASKED}, "sys": {"sent": ANSWERED}},
                        {"turn": 1, "usr": {"transcript": MORE}, "sys": {"sent": LAST}},
                    ],
                }
            ]
        ),
        FOUR,
        "0",
    ),
    "cmu_dog": Example(
        as_json({"documentID": 1, "history": [{"uid": w, "text": t} for w, t in _as("user1", "user2")]}),
        _as("user1", "user2"),
    ),
    "redial": Example(
        lines(
            {
                "conversationId": "391",
                "initiatorWorkerId": 0,
                "respondentWorkerId": 1,
                "messages": [{"senderWorkerId": "01"[w == "assistant"], "text": t} for w, t in FOUR],
            }
        ),
        _as("0", "1"),
        "391",
    ),
    "tau_bench": Example(
        as_json(
            [
                {
                    "task_id": 4,
                    "trial": 1,
                    "traj": [
                        {"role": "system", "content": "Be brief."},
                        {"role": "user", "content": ASKED},
                        {
                            "role": "assistant",
                            "content": None,
                            "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}],
                        },
                        {"role": "tool", "content": "mill"},
                        {"role": "assistant", "content": ANSWERED},
                    ],
                }
            ]
        ),
        EXCHANGE,
        "4-1",
        hidden_messages=("system", *_TOOLS),
    ),
    "sharegpt_items": Example(
        as_json([{"id": "s1", "items": [{"from": w, "value": t} for w, t in _as("human", "gpt")]}]),
        _as("human", "gpt"),
        "s1",
    ),
    "ultrachat": Example(lines({"id": "u1", "data": [text for _, text in FOUR]}), FOUR, "u1"),
    "blended_skill_talk": Example(
        lines(
            {
                "personas": ["Tea.", "Jam."],
                "context": "wizard",
                "previous_utterance": ["Hi.", "Yes."],
                "free_messages": [ASKED, MORE],
                "guided_messages": [ANSWERED, LAST],
                "suggestions": {"convai2": ["No."]},
            }
        ),
        _as("free", "guided"),
    ),
    "marked": Example(
        lines({"transcript": f"\n\nHuman: {ASKED}\n\nAssistant: {ANSWERED}", "rating": 4.0}),
        _as("human", "assistant", EXCHANGE),
    ),
    "marked by ###": Example(
        lines({"text": f"### Human: {ASKED}### Assistant: {ANSWERED}"}), _as("human", "assistant", EXCHANGE)
    ),
    "marked by [INST]": Example(
        lines({"text": f"<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\n{ASKED} [/INST] {ANSWERED} </s>"}),
        EXCHANGE,
        hidden_messages=("system",),
    ),
    "marked with functions": Example(
        lines(
            {
                "system": "SYSTEM: Be brief.",
                "chat": f"USER: {ASKED}\n\n\nFUNCTION RESPONSE: mill\n\n\nASSISTANT: {ANSWERED} <|endoftext|>",
            }
        ),
        EXCHANGE,
        hidden_messages=("system", "tool_result"),
    ),
    "marked by bars": Example(
        lines({"input": f"They talk.\n[|Human|] {ASKED}\n[|AI|] {ANSWERED}\n[|Human|] "}),
        _as("human", "ai", EXCHANGE),
        hidden_messages=("system",),
    ),
    "discord": Example(
        as_json({"guild": {"id": "1"}, "channel": {"id": "c7"}, "messages": _DISCORD}),
        _as("ann", "heron", EXCHANGE),
        "c7",
        "heron",
    ),
    "telegram": Example(
        as_json(
            {
                "chats": {
                    "list": [
                        {
                            "name": "Heron",
                            "type": "bot_chat",
                            "id": 7,
                            "messages": [
                                {"type": "service", "action": "phone_call", "text": ""},
                                {
                                    "type": "message",
                                    "from": "Ann",
                                    "text": ["Where do ", {"type": "bold", "text": "herons"}, " nest?"],
                                },
                                {"type": "message", "from": "Heron", "text": ANSWERED},
                            ],
                        }
                    ]
                }
            }
        ),
        _as("Ann", "Heron", EXCHANGE),
        "7",
        "Heron",
    ),
    "librechat": Example(
        as_json({"conversationId": "l1", "options": {"model": "reed"}, "messages": _LIBRE}), EXCHANGE, "l1", "heron-7b"
    ),
    "librechat tree": Example(
        as_json({"conversationId": "l1", "messagesTree": [_LIBRE[0] | {"children": _LIBRE[1:]}]}),
        EXCHANGE,
        "l1",
        "heron-7b",
    ),
    "open_webui": Example(
        as_json([{"id": "w1", "chat": {"models": ["reed"], "history": {"messages": _WEBUI, "currentId": "m3"}}}]),
        EXCHANGE,
        "w1",
        "heron",
    ),
    "chainlit": Example(
        as_json(
            {
                "id": "t1",
                "steps": [
                    {"type": "user_message", "input": "", "output": ASKED},
                    {"type": "run", "input": ASKED, "output": ""},
                    {"type": "tool", "name": "look", "input": "heron", "output": "mill"},
                    {"type": "assistant_message", "input": "", "output": ANSWERED},
                ],
            }
        ),
        EXCHANGE,
        "t1",
        hidden_messages=_TOOLS,
    ),
    "oobabooga": Example(
        as_json(
            {
                "internal": [["<|BEGIN-VISIBLE-CHAT|>", "Hello."], [ASKED, ANSWERED]],
                "visible": [["", "Hello."], [ASKED, ANSWERED]],
            }
        ),
        (("assistant", "Hello."), *EXCHANGE),
    ),
    "deepseek": Example(
        as_json(
            [
                {
                    "id": "d1",
                    "title": "Birds",
                    "mapping": {
                        "root": {"id": "root", "children": ["1"], "message": None},
                        "1": {
                            "children": ["2", "3"],
                            "message": {"fragments": [{"type": "REQUEST", "content": ASKED}]},
                        },
                        "2": {"children": [], "message": {"fragments": [{"type": "RESPONSE", "content": "No."}]}},
                        "3": {
                            "children": [],
                            "message": {
                                "model": "heron",
                                "fragments": [
                                    {"type": "THINK", "content": "Hm."},
                                    {"type": "RESPONSE", "content": ANSWERED},
                                ],
                            },
                        },
                    },
                }
            ]
        ),
        EXCHANGE,
        "d1",
        "heron",
        ("reasoning",),
    ),
    "grok": Example(
        as_json(
            {
                "conversations": [
                    {
                        "conversation": {"id": "g1"},
                        "responses": [
                            {"response": {"sender": "human", "message": ASKED}},
                            {"response": {"sender": "ASSISTANT", "message": ANSWERED}},
                        ],
                    }
                ]
            }
        ),
        _as("human", "assistant", EXCHANGE),
        "g1",
    ),
    "messenger": Example(
        as_json(
            {
                "participants": [{"name": "Ann"}, {"name": "Zoë".encode().decode("latin-1")}],
                "thread_path": "inbox/zoe",
                "messages": [
                    {"sender_name": "Zoë".encode().decode("latin-1"), "timestamp_ms": 2, "content": ANSWERED},
                    {"sender_name": "Ann", "timestamp_ms": 1, "content": ASKED},
                ],
            }
        ),
        _as("Ann", "Zoë", EXCHANGE),
        "inbox/zoe",
    ),
    "openai_thread": Example(
        as_json(
            {
                "object": "list",
                "data": [
                    _message(
                        number,
                        object="thread.message",
                        thread_id="th1",
                        role=who,
                        content=[{"type": "text", "text": {"value": text, "annotations": []}}],
                    )
                    for number, (who, text) in reversed(list(enumerate(EXCHANGE)))
                ],
            }
        ),
        EXCHANGE,
        "th1",
    ),
    "sillytavern": Example(
        lines(
            {"user_name": "Ann", "character_name": "Heron", "chat_metadata": {}},
            {"name": "Ann", "is_user": True, "is_system": False, "mes": ASKED},
            {"name": "System", "is_user": False, "is_system": True, "mes": "Saved."},
            {"name": "Heron", "is_user": False, "mes": ANSWERED, "swipes": ["No.", ANSWERED], "swipe_id": 1},
        ),
        EXCHANGE,
        "",
        "Heron",
    ),
    "ai_studio": Example(
        as_json(
            {
                "runSettings": {"model": "models/heron-pro"},
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "chunkedPrompt": {
                    "chunks": [
                        {"role": "user", "text": ASKED},
                        {"role": "model", "text": "Hm.", "isThought": True},
                        {"role": "model", "text": ANSWERED},
                    ]
                },
            }
        ),
        _as("user", "model", EXCHANGE),
        "",
        "heron-pro",
        ("system", "reasoning"),
    ),
    "gemini_activity": Example(
        as_json(
            [
                {
                    "header": "Gemini Apps",
                    "title": f"Prompted {ASKED}",
                    "products": ["Gemini Apps"],
                    "safeHtmlItem": [{"html": "<p>On the <b>old</b> mill.</p>"}],
                },
                {"header": "Gemini Apps", "title": "Used a feature", "products": ["Gemini Apps"]},
            ]
        ),
        EXCHANGE,
        "",
        "gemini",
    ),
    "zendesk": Example(
        as_json(
            {
                "tickets": [
                    {
                        "id": 35,
                        "requester_id": 1,
                        "comments": [
                            {"author_id": 1, "public": True, "plain_body": ASKED, "body": "-"},
                            {"author_id": 2, "public": False, "body": "Look it up."},
                            {"author_id": 2, "public": True, "body": ANSWERED},
                        ],
                    }
                ]
            }
        ),
        _as("user", "agent", EXCHANGE),
        "35",
    ),
    "freshdesk": Example(
        lines(
            {
                "id": 5,
                "requester_id": 1,
                "description_text": ASKED,
                "conversations": [
                    {"body_text": "Look it up.", "body": "<p>-</p>", "incoming": False, "private": True},
                    {"body": f"<p>{ANSWERED}</p>", "incoming": False, "private": False},
                ],
            }
        ),
        _as("user", "agent", EXCHANGE),
        "5",
    ),
    "lex": Example(
        lines(
            {"sessionId": "s", "timestamp": "2024-01-01T10:00:05Z", "inputTranscript": MORE, "botResponse": LAST},
            {
                "sessionId": "s",
                "timestamp": "2024-01-01T10:00:00Z",
                "inputTranscript": ASKED,
                "messages": [{"content": ANSWERED, "contentType": "PlainText"}],
            },
        ),
        _as("user", "bot"),
        "s",
    ),
    "bot_framework": Example(
        as_json(
            [
                {"type": "conversationUpdate", "from": {"role": "user"}, "conversation": {"id": "b1"}},
                {"type": "message", "from": {"id": "u", "role": "user"}, "conversation": {"id": "b1"}, "text": ASKED},
                {"type": "typing", "from": {"role": "bot"}, "conversation": {"id": "b1"}},
                {"type": "message", "from": {"id": "b", "role": "bot"}, "conversation": {"id": "b1"}, "text": ANSWERED},
            ]
        ),
        _as("user", "bot", EXCHANGE),
        "b1",
    ),
    "dialogflow": Example(
        lines(
            *(
                {
                    "insertId": "x",
                    "labels": {"session_id": "s1"},
                    "timestamp": f"2024-01-01T10:00:0{9 - number}Z",
                    "jsonPayload": {"queryResult": result},
                }
                for number, result in enumerate(
                    [
                        {"queryText": MORE, "fulfillmentText": LAST},
                        {"text": ASKED, "responseMessages": [{"text": {"text": [ANSWERED]}}]},
                    ]
                )
            )
        ),
        _as("user", "bot"),
        "s1",
    ),
    "vapi": Example(
        as_json(
            [{"id": "v1", "assistantId": "a", "transcript": "AI: No.\nUser: No.", "messages": _CALL, "artifact": {}}]
        ),
        EXCHANGE,
        "v1",
        hidden_messages=_TOOLS,
    ),
    "retell": Example(
        as_json(
            [
                {
                    "call_id": "r1",
                    "transcript": "Agent: No.\nUser: No.",
                    "transcript_object": [{"role": w, "content": t} for w, t in _as("user", "agent", EXCHANGE)],
                }
            ]
        ),
        _as("user", "agent", EXCHANGE),
        "r1",
    ),
    "tweets": Example(
        (
            "tweet_id,author_id,inbound,created_at,text,response_tweet_id,in_response_to_tweet_id\n"
            f"4,Mill,False,{_TIME.format(3)},{LAST},,3\n"
            f"1,ann,True,{_TIME.format(0)},{ASKED},2,\n"
            f"3,ann,True,{_TIME.format(2)},{MORE},4,2\n"
            f"2,Mill,False,{_TIME.format(1)},{ANSWERED},3,1\n"
            f"5,bob,True,{_TIME.format(4)},Hello?,,\n"
        ).encode(),
        _as("ann", "Mill"),
        "1",
        "Mill",
        name="twcs.csv",
    ),
    "subtitles": Example(
        (
            "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n<v Ann>Where do</v>\n\n"
            "2\n00:00:02.000 --> 00:00:03.000\n<v Ann>herons nest?</v>\n\n"
            f"00:00:03.000 --> 00:00:04.000\nBob: {ANSWERED}\n"
        ).encode(),
        _as("Ann", "Bob", EXCHANGE),
        "talk.vtt",
        name="talk.vtt.txt",
    ),
}
"""By the reader's name, with a word after it where a format has several forms."""

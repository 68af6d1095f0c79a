"""Cases of every kind of block, put into a page by hand: what the viewer can draw, whoever packs it."""

from __future__ import annotations

from typing import Any

from report_example import ARABIC, CHINESE, HOSTILE, ODD

from dialeval.html_pages import pack

PER_LINE = 2
IDS = ("q-1", "q-2", HOSTILE)
CARD = {
    "title": "able (letter)", "badge": "won", "verdict": "right, " + "said at length, " * 30, "status": "ok",
    "order": "shown first",
    "reason": HOSTILE, "answer": "The answer is B.", "read": "the first letter", "facts": "12 tokens in",
    "probabilities": [["A", 0.25], ["B", 0.75]], "prompt": 1, "pair": "able",
}  # fmt: skip
_PROMPTS = {"strings": ["Choose.\n", ODD, HOSTILE], "prompts": [[["user", [0]]], [["system", [0]], ["user", [1, 2]]]]}


def _piece(number: int) -> dict[str, Any]:
    said = [CHINESE, f"answer {number}", ARABIC]
    return {
        "blocks": [
            {"type": "words", "text": f"About {HOSTILE}"},
            {"type": "bubbles", "title": "Before", "speakers": ["A", "B", "A"], "utterances": said, "version": "en"},
            {"type": "bubbles", "speakers": [HOSTILE], "utterances": ["auf Deutsch"], "version": "de"},
            {
                "type": "bubbles", "title": "After", "speakers": ["A"], "marked": [0], "mark": "damaged",
                "utterances": [[["=", "He "], ["-", "went"], ["+", HOSTILE], ["=", " home"]]],
            },
            {
                "type": "options", "title": "Options",
                "options": [
                    {"letter": "A", "text": ODD, "right": False, "chosen": []},
                    {"letter": "B", "text": f"option {number}", "right": True, "chosen": ["able", HOSTILE]},
                ],
            },
            {
                "type": "table", "title": "Scores", "columns": ["overall", HOSTILE],
                "rows": [["people", "people", [[1.5, 750, "0–2", "mean of 2"], None]], [HOSTILE, "", ["text", None]]],
            },
            {"type": "cards", "title": "Answers", "cards": [CARD, CARD | {"order": "shown second"}]},
        ]
    }  # fmt: skip


def with_pieces(page: str) -> str:
    """Return a page with a shelf of test items besides, in two groups, the last case with a hostile name."""
    groups = [
        {"name": "first", "noun": "question", "words": "2 of 9", "ids": IDS[:2], "first": ["one", "two"]},
        {"name": HOSTILE, "noun": "question", "ids": IDS[2:], "first": [HOSTILE], "about": ["de"]},
    ]
    facets = [
        {"name": "model", "label": "model", "values": ["able", HOSTILE]},
        {"name": "result", "label": "result", "values": ["right", "wrong"]},
    ]
    rows = [[0, 0, [0, 2]], [0, 1, [1]], [1, 1, [0, 1]], [1, -1, [2]]]
    index = {"per_line": PER_LINE, "groups": groups, "facets": facets, "rows": rows}
    pieces = [_piece(number) for number in range(len(IDS))]
    lines = [pack(pieces[start : start + PER_LINE]) for start in range(0, len(pieces), PER_LINE)]
    shelf = (
        '<script type="text/plain" class="shelf" data-kind="choices" data-label="Test items" data-words="3 of 10">'
        f"{pack(index)}</script>"
        f'<script type="text/plain" id="choices-lines">{chr(10).join(lines)}</script>'
        f'<script type="text/plain" id="choices-prompts">{pack(_PROMPTS)}</script>'
    )
    before, script, after = page.partition("<script>")
    return before + shelf + script + after

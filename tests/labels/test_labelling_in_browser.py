"""The labelling page in a real browser, opened as a file: labelled by keyboard alone, kept, saved and opened again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import labelling_sheets as sheets
import pytest
from labelling_browser import FINISHED, answers, reload, saved, text, texts
from report_browser import AXE, PROGRAM, Browser

from dialeval.labels.units import Sheet

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium or chrome on the PATH")

KINDS = (sheets.scales, sheets.numbers, sheets.pairs, sheets.machines, sheets.strange)
Opened = Callable[[Sheet], Browser]


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_loads_nothing_and_logs_no_error(opened: Opened, kind: Callable[[], Sheet]) -> None:
    browser = opened(kind())
    browser.press("1", "o", "Escape", "?", "Escape", "u")
    addresses = [url for url in browser.requested() if not url.startswith("data:")]
    assert [address.rpartition("/")[2] for address in addresses] == ["page.html"]
    assert browser.complaints() == []
    assert browser.evaluate("window.alarmed") is None


def test_a_pair_is_labelled_by_one_key_and_the_next_comes(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(3)
    browser = opened(sheet)
    assert texts(browser, ".dialogue > h3") == ["Left dialogue", "Right dialogue"]
    browser.press("2")
    assert text(browser, "#unit-title") == "2 of 3"
    assert texts(browser, ".bubble p")[0] == "Utterance 1 of dialogue 2, by the customer."
    browser.press("s", "3")
    browser.wait(FINISHED)
    browser.press("Escape")
    assert text(browser, "#count") == "2 of 3 labelled, 1 skipped"
    assert text(browser, "#unsaved") == "3 not yet in a file"
    shared = {"comment": "", "round": 0, "criterion": "", "options": "A; B; Tie"}
    rubric = "; ".join(f"{option.label} ({option.meaning})" for option in sheet.questions[0].options)
    shared |= {"question": sheet.questions[0].text, "rubric": rubric}
    assert saved(browser, tmp_path, sheet) == {
        "format": "dialeval-labels", "version": 1, "protocol": "better", "annotator": "anna", "draw": "d1",
        "labels": [
            {"key": sheet.units[0].key, **shared, "label": "B", "skipped": False},
            {"key": sheet.units[1].key, **shared, "label": None, "skipped": True},
            {"key": sheet.units[2].key, **shared, "label": "Tie", "skipped": False},
        ],
        "open": [],
    }  # fmt: skip
    assert text(browser, "#unsaved") == ""


def test_left_and_right_user_and_assistant_are_shown_and_the_labels_stay(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(2)
    shown = ("Left is better", "Right is better", "Neither is better")
    options = tuple(
        replace(option, shown=words) for option, words in zip(sheet.questions[0].options, shown, strict=True)
    )
    roles = {"agent": "Assistant", "customer": "User"}
    units = tuple(
        replace(unit, dialogues=tuple(tuple(replace(t, role=roles[t.speaker]) for t in of) for of in unit.dialogues))
        for unit in sheet.units
    )
    sheet = replace(sheet, questions=(replace(sheet.questions[0], options=options),), units=units)
    browser = opened(sheet)
    assert texts(browser, ".option-label") == list(shown)
    assert texts(browser, ".meaning") == []
    assert texts(browser, ".bubble bdi")[:2] == ["User", "Assistant"]
    browser.press("1")
    assert text(browser, "#message") == "1: Left is better"
    (label,) = saved(browser, tmp_path, sheet)["labels"]
    assert (label["label"], label["options"]) == ("A", "A; B; Tie")


GUIDELINES = """# Scale

Give **5** only if *all* is well,
on one `line`.

- one
- two **bold**
  goes on
1. first
2. <img src=x onerror="window.alarmed = true">
"""


def test_guidelines_stand_beside_the_questions_and_are_no_markup(opened: Opened) -> None:
    browser = opened(replace(sheets.scales(), guidelines=GUIDELINES))
    assert texts(browser, "#guidelines-text > *") == [
        "Scale",
        "Give 5 only if all is well, on one line.",
        "onetwo bold goes on",
        'first<img src=x onerror="window.alarmed = true">',
    ]
    tags = "[...document.querySelectorAll('#guidelines-text *')].map(e => e.tagName)"
    assert browser.evaluate(tags) == ["H3", "P", "STRONG", "EM", "CODE", "UL", "LI", "LI", "STRONG", "OL", "LI", "LI"]
    assert browser.evaluate("window.alarmed") is None
    assert browser.evaluate("document.querySelector('#panel #guidelines').open")
    assert browser.complaints() == []
    if AXE is not None:
        assert browser.barriers() == []
    browser = opened(sheets.scales())
    assert browser.evaluate("document.getElementById('guidelines')") is None


def test_all_labels_are_there_after_a_confirmed_reload(opened: Opened) -> None:
    browser = opened(sheets.scales(3))
    browser.press("4", "1", "5", "c", *"fine", "Escape")
    reload(browser)
    assert browser.asked_to_stay()
    assert text(browser, "#unit-title") == "2 of 3"
    assert texts(browser, ".option[aria-pressed=true] .option-label") == ["5"]
    assert browser.evaluate("document.getElementById('comment').value") == "fine"
    browser.press("ArrowLeft")
    assert texts(browser, ".option[aria-pressed=true] .option-label") == ["4", "No"]
    assert text(browser, "#count") == "1 of 3 labelled"


def test_the_first_utterance_is_chosen_by_keys(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.machines(2)
    browser = opened(sheet)
    browser.press("1", "ArrowDown", "ArrowDown", "Enter", "2")
    browser.wait(FINISHED)
    browser.press("Escape")
    labels = saved(browser, tmp_path, sheet)["labels"]
    assert [(label["label"], label.get("place")) for label in labels] == [("Yes", 3), ("No", None)]
    browser.press("ArrowLeft", "2")
    labels = saved(browser, tmp_path, sheet)["labels"]
    assert [(label["label"], label.get("place")) for label in labels] == [("No", None), ("No", None)]


def test_the_page_fits_a_phone(opened: Opened, browser: Browser) -> None:
    browser.look(390, 844)
    opened(sheets.strange())
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    tops = browser.evaluate("[...document.querySelectorAll('.dialogue')].map(e => e.getBoundingClientRect().top)")
    assert tops[1] > tops[0]  # one under the other
    box = browser.evaluate(
        "(({top, bottom}) => [top, bottom])(document.querySelector('.question').getBoundingClientRect())"
    )
    assert 0 < box[0] < box[1] <= 844  # the question is in sight however long the dialogues are


def test_a_question_with_a_word_as_long_as_a_line_is_not_cut(opened: Opened, browser: Browser) -> None:
    sheet = sheets.scales(1)
    opened(replace(sheet, questions=tuple(replace(one, text="W" * 200) for one in sheet.questions)))
    for width in (390, 1000, 1600):
        browser.look(width, 900)
        sizes = browser.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.getElementById('panel'))")
        assert sizes[0] <= sizes[1], width


def test_a_phone_shows_one_question_at_a_time_and_leads_to_the_others(opened: Opened, browser: Browser) -> None:
    browser.look(390, 844)
    opened(sheets.scales())
    shown = "[...document.querySelectorAll('.question')].filter(e => e.checkVisibility()).map(e => e.dataset.number)"
    assert browser.evaluate(shown) == ["0"]
    browser.click("#steps button:last-child")
    assert browser.evaluate(shown) == ["1"]
    browser.click(".question.is-active .option:last-child")
    assert browser.evaluate(shown) == ["0"]  # what is open yet
    assert texts(browser, "#steps button") == ["politeness", "solved ✓"]
    keys = "[...document.querySelectorAll('kbd, .by-keys')].filter(e => e.checkVisibility()).length"
    assert browser.evaluate(keys) == 0  # nobody who has but fingers is told of keys
    browser.look(390, 400)
    assert browser.evaluate(shown) == ["0"]
    browser.look(1280, 900)
    assert browser.evaluate(shown) == ["0", "1"]
    assert browser.evaluate(keys) > 0


@pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed")
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_accessible(opened: Opened, kind: Callable[[], Sheet]) -> None:
    """In every state: fresh, answered, with a comment, with each dialog, and at the end."""
    sheet = kind()
    browser = opened(sheet)
    for keys in ((), ("1",), ("c",), ("Escape", "o"), ("Escape", "?"), ("Escape", *"s" * len(sheet.units))):
        browser.look(1280, 844)
        browser.press(*keys)
        assert browser.barriers() == [], keys
        browser.look(390, 844, dark=True)
        assert browser.barriers() == [], (keys, "a phone, dark")


def test_without_single_keys_tab_and_enter_are_enough(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(2)
    browser = opened(sheet)
    browser.press("?")
    browser.click("#single-keys")
    browser.press("Escape", "1", "s", "ArrowRight")
    assert text(browser, "#unit-title") == "1 of 2"
    reach(browser, ".option")
    browser.press("Tab", "Enter")
    assert text(browser, "#unit-title") == "2 of 2"
    reach(browser, "#skip")
    browser.press(" ")
    browser.wait(FINISHED)
    reach(browser, "#save-all")
    browser.press("Enter")
    browser.wait_for_file(tmp_path / "saved" / "better-anna.json")
    assert text(browser, "#count") == "1 of 2 labelled, 1 skipped"


def reach(browser: Browser, selector: str) -> None:
    """Presses Tab until what a selector finds has the focus."""
    for _ in range(60):
        if browser.evaluate(f"document.activeElement.matches({selector!r})"):
            return
        browser.press("Tab")
    pytest.fail(f"{selector} cannot be reached by Tab")


def test_questions_are_answered_in_any_order(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.scales(1)
    browser = opened(sheet)
    browser.press("ArrowDown", "2", "3")  # the second question, then the one that is open yet
    browser.wait(FINISHED)
    browser.press("Escape")
    assert answers(saved(browser, tmp_path, sheet)) == [("politeness", "3"), ("solved", "Yes")]
    browser.press("ArrowUp", "1")  # another answer: nothing moves on by itself
    assert not browser.evaluate(FINISHED)
    assert answers(saved(browser, tmp_path, sheet)) == [("politeness", "1"), ("solved", "Yes")]


def test_undo_takes_back_one_by_one_and_x_all_of_a_thing(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.scales(2)
    browser = opened(sheet)
    browser.press("1", "1", "s")
    browser.wait(FINISHED)
    browser.press("Escape", "u")
    assert text(browser, "#unit-title") == "2 of 2"
    browser.press("u")
    assert text(browser, "#unit-title") == "1 of 2"
    assert answers(saved(browser, tmp_path, sheet)) == [("politeness", "1")]
    browser.press("x")
    assert answers(saved(browser, tmp_path, sheet)) == []
    assert text(browser, "#count") == "0 of 2 labelled"


def test_undo_keeps_a_comment_that_was_written_later(opened: Opened) -> None:
    browser = opened(sheets.pairs(2))
    browser.press("1", "ArrowLeft", "c", *"odd", "Escape", "u")
    assert text(browser, "#count") == "0 of 2 labelled"
    assert browser.evaluate("document.getElementById('comment').value") == "odd"


def test_keys_of_other_keyboards_do_the_same(opened: Opened) -> None:
    """On a French keyboard the key of 2 writes an é, on a Russian one that of s an ы."""
    browser = opened(sheets.pairs(3))
    for key, code in (("é", "Digit2"), ("ы", "KeyS"), ("3", "Numpad3")):
        browser.command("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, text=key)
        browser.command("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)
    browser.wait(FINISHED)
    assert text(browser, "#count") == "2 of 3 labelled, 1 skipped"


def test_the_first_judged_utterance_says_so_and_the_others_have_its_border(opened: Opened) -> None:
    browser = opened(sheets.scales())
    assert texts(browser, ".is-judged .bubble-head") == ["2 · agent · to be judged", "4 · agent · to be judged"]
    assert texts(browser, ".is-judged .unseen") == [" · to be judged"], "read aloud only"
    assert browser.evaluate("document.querySelectorAll('.bubble')[3].querySelector('.unseen').offsetWidth") == 1


def test_numbers_are_typed_and_scales_of_eleven_have_a_key_each(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.numbers()
    browser = opened(sheet)
    assert texts(browser, ".is-judged .bubble-head") == ["4 · agent · to be judged"]
    browser.press(*"37.5", "Enter")  # they go into the field by themselves
    assert texts(browser, ".question:last-child kbd") == ["-"]  # of 10; the others bear their own digit
    browser.press("-")
    assert text(browser, "#unit-title") == "2 of 3"
    browser.press(*"101", "Enter", "Escape", "ArrowDown", "0")
    content = saved(browser, tmp_path, sheet)
    assert answers(content) == [("effort", 37.5), ("stars", 10), ("stars", 0)]


def test_skipping_keeps_what_was_answered(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.scales(2)
    browser = opened(sheet)
    browser.press("2", "s")
    labels = saved(browser, tmp_path, sheet)["labels"]
    assert [(label["label"], label["skipped"]) for label in labels] == [("2", False), (None, True)]


def test_some_are_labelled_a_second_time_without_the_first_answers(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(6)
    browser = opened(sheet)
    browser.press(*"111222")
    browser.wait(FINISHED)
    browser.press("Escape", "o")
    assert text(browser, "#label-again") == "Label the first 5 a second time"
    browser.click("#label-again")
    assert text(browser, "#unit-title") == "7 of 11 (a second time)"
    assert texts(browser, ".option[aria-pressed=true]") == []
    assert texts(browser, ".bubble p")[0] == "Utterance 1 of dialogue 0, by the customer."
    browser.press("2")
    labels = saved(browser, tmp_path, sheet)["labels"]
    assert [(label["round"], label["label"]) for label in labels if label["key"] == sheet.units[0].key] == [
        (0, "A"),
        (1, "B"),
    ]


def test_every_text_has_its_own_direction_and_the_language_of_the_dialogues(opened: Opened) -> None:
    browser = opened(sheets.strange())
    directions = "[...document.querySelectorAll('.bubble p')].map(e => getComputedStyle(e).direction)"
    assert browser.evaluate(directions)[:3] == ["ltr", "rtl", "ltr"]
    assert set(browser.evaluate("[...document.querySelectorAll('.bubble p')].map(e => e.lang)")) == {"ar"}
    assert texts(browser, ".bubble p")[:2] == [sheets.HOSTILE, sheets.ARABIC]
    assert browser.evaluate("window.alarmed") is None

"""What a labelling page keeps, and files: another device, another tab, a browser that refuses, another draw."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import labelling_sheets as sheets
import pytest
from labelling_browser import FINISHED, answers, choose_file, reload, saved, text
from report_browser import PROGRAM, Browser

from dialeval.labels.exports import read_export, read_json
from dialeval.labels.page import page_html
from dialeval.labels.spreadsheets import read_filled
from dialeval.labels.units import Option, Sheet, SheetQuestion

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium or chrome on the PATH")

Opened = Callable[[Sheet], Browser]


def forget(browser: Browser) -> None:
    """Make the browser one that never saw the page."""
    browser.evaluate("localStorage.clear()")
    reload(browser)


def test_a_saved_file_goes_on_elsewhere_and_is_saved_the_same(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.scales(4)
    browser = opened(sheet)
    browser.press("1", "2", "c", *'odd, "that"', "Escape", "3", "ArrowRight", "s", "c", *"later", "Escape")
    before = saved(browser, tmp_path, sheet)
    assert len(before["labels"]) == 5
    forget(browser)
    assert text(browser, "#count") == "0 of 4 labelled"
    choose_file(browser, tmp_path / "export.json")
    assert text(browser, "#file-message") == "3 labels loaded from export.json."
    assert saved(browser, tmp_path, sheet) == before
    reload(browser)
    assert saved(browser, tmp_path, sheet) == before


def test_first_utterances_and_second_rounds_go_on_too(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.machines(2)
    browser = opened(sheet)
    browser.press("1", "ArrowDown", "Enter", "2")
    browser.wait(FINISHED)
    browser.press("Escape", "o")
    browser.click("#label-again")
    browser.press("2")
    before = saved(browser, tmp_path, sheet)
    assert [(one["round"], one["label"], one.get("place")) for one in before["labels"]] == [
        (0, "Yes", 2), (0, "No", None), (1, "No", None),
    ]  # fmt: skip
    forget(browser)
    choose_file(browser, tmp_path / "export.json")
    assert saved(browser, tmp_path, sheet) == before


def test_answers_of_a_file_replace_those_of_the_page_only_on_request(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(3)
    browser = opened(sheet)
    browser.press("1", "1")
    saved(browser, tmp_path, sheet)
    forget(browser)
    browser.press("2")
    choose_file(browser, tmp_path / "export.json")
    assert text(browser, "#file-message").startswith(
        "1 label loaded from export.json. The file differs in 1 label. The page's labels stay"
    )
    browser.press("?")
    browser.click("#keep-mine")
    browser.press("Escape")
    (tmp_path / "first.json").write_bytes((tmp_path / "export.json").read_bytes())
    assert answers(saved(browser, tmp_path, sheet)) == [("", "B"), ("", "A")]
    choose_file(browser, tmp_path / "first.json")
    browser.press("?")
    browser.click("#take-file")
    browser.press("Escape")
    assert answers(saved(browser, tmp_path, sheet)) == [("", "A"), ("", "A")]


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"draw": "d2"}, "another draw (d2) than this page (d1). No label was loaded."),
    ({"annotator": "ben"}, "another annotator (ben) than this page (anna)"),
    ({"protocol": "worse"}, "another protocol (worse)"),
    ({"version": 2}, "version 2. This page reads version 1"),
    ({"format": "other"}, "not saved by a labelling page"),
    ({"labels": None}, "not saved by a labelling page"),
]


def test_a_file_of_another_page_is_refused(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(2)
    browser = opened(sheet)
    browser.press("1")
    content = saved(browser, tmp_path, sheet)
    forget(browser)
    for change, words in REFUSED:
        (tmp_path / "other.json").write_text(json.dumps({**content, **change}))
        choose_file(browser, tmp_path / "other.json")
        assert words in text(browser, "#file-message"), change
        assert text(browser, "#count") == "0 of 2 labelled", change


def test_records_that_do_not_fit_are_counted_and_a_damaged_file_is_named(opened: Opened, tmp_path: Path) -> None:
    sheet = sheets.pairs(2)
    browser = opened(sheet)
    browser.press("1", "2", "Escape")
    content = saved(browser, tmp_path, sheet)
    content["labels"][0]["label"] = "C"
    content["labels"].append({**content["labels"][1], "key": "unknown"})
    content["labels"].append(None)
    (tmp_path / "changed.json").write_text(json.dumps(content))
    forget(browser)
    choose_file(browser, tmp_path / "changed.json")
    assert text(browser, "#file-message") == (
        "1 label loaded from changed.json. 3 records ignored: they do not match this page's items and questions."
    )
    (tmp_path / "broken.json").write_text('{"format": "dialeval-')
    choose_file(browser, tmp_path / "broken.json")
    assert "broken.json cannot be read as a saved file" in text(browser, "#file-message")
    assert text(browser, "#count") == "1 of 2 labelled"


def test_the_table_reads_as_csv(opened: Opened, browser: Browser, tmp_path: Path) -> None:
    sheet = sheets.scales(2)
    opened(sheet)
    browser.press("1", "2", "c", *'he said "no", then', "Escape", "s")
    browser.wait(FINISHED)
    browser.press("Escape", "?")
    browser.click("#save-csv")
    path = tmp_path / "saved" / "service-anna.csv"
    browser.wait_for_file(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["key"], row["criterion"], row["label"], row["skipped"], row["comment"]) for row in rows] == [
        (sheet.units[0].key, "politeness", "1", "false", ""),
        (sheet.units[0].key, "solved", "Yes", "false", ""),
        (sheet.units[1].key, "politeness", "", "true", 'he said "no", then'),
        (sheet.units[1].key, "solved", "", "true", 'he said "no", then'),
    ]


def test_the_table_holds_no_formula_and_keeps_negative_numbers(
    opened: Opened, browser: Browser, tmp_path: Path
) -> None:
    cold = SheetQuestion("warmth", "How warm?", tuple(Option(label) for label in ("-1", "0", "1", "=warm")))
    sheet = replace(sheets.scales(2), questions=(cold,))
    opened(sheet)
    browser.press("c", *"=1+1", "Escape")
    browser.press("2", "3")  # keys 0 and 1 are those of the labels 0 and 1
    browser.wait(FINISHED)
    browser.press("Escape", "?")
    browser.click("#save-csv")
    table = tmp_path / "saved" / "service-anna.csv"
    browser.wait_for_file(table)
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["label"], row["comment"], row["options"]) for row in rows] == [
        ("-1", "'=1+1", "'-1; 0; 1; =warm"),
        ("'=warm", "", "'-1; 0; 1; =warm"),
    ]
    faults: list[str] = []
    read = list(read_filled(table, (), faults.append, faults.append))
    assert faults == []
    assert [(said.label, said.comment) for said in read] == [("-1", "=1+1"), ("=warm", "")]


def test_file_and_table_are_read_back_as_the_same_answers(opened: Opened, browser: Browser, tmp_path: Path) -> None:
    sheet = sheets.machines(3)
    opened(sheet)
    browser.press("1", "ArrowDown", "Enter", "2", "c", *"dull", "Escape", "s")
    browser.wait(FINISHED)
    browser.press("Escape")
    saved(browser, tmp_path, sheet)
    browser.press("?")
    browser.click("#save-csv")
    table = tmp_path / "saved" / "unieval-anna.csv"
    browser.wait_for_file(table)
    faults: list[str] = []
    of_table = list(read_filled(table, (), faults.append, faults.append))
    of_file = list(read_export(tmp_path / "export.json", read_json(tmp_path / "export.json")))
    assert faults == []
    assert [replace(said, file="", row=0, exported=False) for said in of_file] == [
        replace(said, file="", row=0) for said in of_table
    ]
    assert [(said.key, said.label, said.place, said.skipped, said.comment) for said in of_file] == [
        (sheet.units[0].key, "Yes", "2", False, ""),
        (sheet.units[1].key, "No", "", False, ""),
        (sheet.units[2].key, "", "", True, "dull"),
    ]


def test_more_units_of_the_same_draw_keep_their_labels_and_another_draw_starts_empty(opened: Opened) -> None:
    browser = opened(sheets.pairs(2))
    browser.press("1", "2")
    browser.press("Escape", "e")  # so that nothing asks before the page is left
    browser = opened(sheets.pairs(4))
    assert text(browser, "#count") == "2 of 4 labelled"
    browser = opened(replace(sheets.pairs(4), draw="d2"))
    assert text(browser, "#count") == "0 of 4 labelled"


def test_answers_to_a_changed_question_are_requested_again(opened: Opened, tmp_path: Path) -> None:
    browser = opened(sheets.pairs(2))
    browser.press("3", "1", "Escape", "e")
    options = tuple(option for option in sheets.BETTER.options if option.label != "Tie")
    sheet = replace(sheets.pairs(2), questions=(replace(sheets.BETTER, options=options),))
    browser.wait_for_file(tmp_path / "saved" / "better-anna.json")
    (tmp_path / "saved" / "better-anna.json").unlink()
    browser = opened(sheet)
    assert text(browser, "#count") == "1 of 2 labelled"
    assert answers(saved(browser, tmp_path, sheet)) == [("", "A")]


def test_numbers_that_were_kept_on_another_scale_are_put_aside(
    opened: Opened, browser: Browser, tmp_path: Path
) -> None:
    opened(sheets.numbers())
    browser.press(*"40", "Enter", "7")
    before = saved(browser, tmp_path, sheets.numbers())
    assert [one["options"] for one in before["labels"]] == ["a number from 0 to 100", "a number from 0 to 10"]
    effort = replace(sheets.EFFORT, high=50.0)
    sheet = replace(sheets.numbers(), questions=(effort, sheets.STARS))
    browser = opened(sheet)
    assert text(browser, "#count") == "0 of 3 labelled"
    assert "given on another scale of effort" in text(browser, "#warning")
    kept = browser.evaluate("localStorage.getItem('dialeval-labels/service/anna/d1/a number from 0 to 100')")
    assert '"label":40' in kept


def test_what_was_kept_under_a_question_in_other_words_is_put_aside(
    opened: Opened, browser: Browser, tmp_path: Path
) -> None:
    opened(sheets.pairs(3))
    browser.press("1", "2")
    before = saved(browser, tmp_path, sheets.pairs(3))
    assert {(one["question"], one["rubric"].partition(";")[0]) for one in before["labels"]} == {
        ("Which of the two is better?", "A (the first dialogue is better)")
    }
    sheet = replace(sheets.pairs(3), questions=(replace(sheets.BETTER, text="Which one helps more?"),))
    browser = opened(sheet)
    assert text(browser, "#count") == "0 of 3 labelled"
    assert "given under a question with another wording" in text(browser, "#warning")
    choose_file(browser, tmp_path / "export.json")
    assert "2 records ignored: they do not match this page" in text(browser, "#file-message")


def test_what_another_tab_labels_is_not_lost(opened: Opened, browser: Browser) -> None:
    """The event by which a browser tells a page that another one, open on the same file, has kept something."""
    opened(sheets.pairs(3))
    browser.press("1")
    name, key = "dialeval-labels/better/anna/d1", f"0:{sheets.pairs(3).units[2].key}"
    slot = "{answers: {'': {label: 'B'}}, skipped: false, comment: ''}"
    browser.evaluate(
        f"(() => {{ const kept = JSON.parse(localStorage.getItem({name!r})); kept.slots[{key!r}] = {slot};"
        f"localStorage.setItem({name!r}, JSON.stringify(kept));"
        f"dispatchEvent(new StorageEvent('storage', {{key: {name!r}}})); }})()"
    )
    assert text(browser, "#count") == "2 of 3 labelled"
    browser.press("1")
    browser.wait(FINISHED)
    reload(browser)
    assert text(browser, "#count") == "3 of 3 labelled"


def test_a_browser_that_keeps_nothing_says_so_and_can_save(opened: Opened, browser: Browser, tmp_path: Path) -> None:
    browser.command(
        "Page.addScriptToEvaluateOnNewDocument",
        source="Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }});",
    )
    sheet = sheets.pairs(2)
    opened(sheet)
    assert "This browser cannot keep your answers after a reload" in text(browser, "#warning")
    browser.press("1")
    assert answers(saved(browser, tmp_path, sheet)) == [("", "A")]


def test_what_was_kept_and_is_damaged_is_put_aside(opened: Opened, browser: Browser) -> None:
    opened(sheets.pairs(2))
    name = "dialeval-labels/better/anna/d1"
    browser.evaluate(f"localStorage.setItem({name!r}, '{{')")
    reload(browser)
    assert "stored in this browser cannot be read" in text(browser, "#warning")
    assert browser.evaluate(f"localStorage.getItem({f'{name}/unreadable'!r})") == "{"
    assert text(browser, "#count") == "0 of 2 labelled"


def test_a_browser_that_cannot_unpack_says_so(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_html(sheets.pairs(1)), encoding="utf-8")
    browser.command("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream;")
    browser.open(path.as_uri(), until="document.getElementById('warning')?.hidden === false")
    assert "too old to show" in text(browser, "#warning")

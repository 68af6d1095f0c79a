"""The viewer of cases in a real browser: it follows and writes addresses, finds, filters, and is led by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import report_example as example
from report_browser import AXE, Browser
from report_pieces import CARD, with_pieces

from dialeval.report.page import build_report
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS, SEEDS, UTTERANCES
from dialeval.tables.files import to_table
from dialeval.tables.measures import PASS_RATES

READY = "document.querySelector('.bubble')"
TITLE = "document.getElementById('case-title')?.textContent"


@pytest.fixture(scope="module")
def address(written: Callable[[str], str]) -> str:
    return written(with_pieces(build_report(example.inputs())))


def search(browser: Browser, words: str) -> None:
    """Types words, as far as the page can tell, and waits until it has looked for them."""
    browser.evaluate("document.getElementById('found').textContent = ''; 0")
    browser.evaluate(
        f"(() => {{ const s = document.getElementById('search'); s.focus(); s.value = {words!r};"
        "s.dispatchEvent(new Event('input')); })()"
    )
    browser.wait("document.getElementById('found').textContent")
    browser.evaluate("new Promise(done => setTimeout(done, 50))")


def test_a_copy_that_a_browser_saved_has_every_case(browser: Browser, address: str, tmp_path: Path) -> None:
    everything = "[...document.querySelectorAll('script[type]')].map(block => block.id)"
    browser.open(address, until=READY)
    packed, bubbles = browser.evaluate(everything), browser.texts(".bubble")
    shelves, listed = browser.texts("#shelf option"), browser.texts("#case-list li")
    search(browser, "e")  # which reads all dialogues
    copy = tmp_path / "saved.html"
    copy.write_text("<!doctype html>" + browser.evaluate("document.documentElement.outerHTML"), encoding="utf-8")
    browser.open(copy.as_uri(), until=READY)
    browser.wait("document.getElementById('search').value === ''")
    assert browser.evaluate(everything) == packed
    assert (browser.texts("#shelf option"), browser.texts("#case-list li")) == (shelves, listed)
    assert browser.texts(".bubble") == bubbles
    search(browser, "zzzz")
    assert browser.texts("#found")[0].startswith("No hits")
    assert browser.complaints() == []


# ---- Addresses ----


def test_a_click_on_a_number_opens_its_cases_and_back_returns(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    selector = "#board-1 tbody tr:nth-child(2) a.to-cases"
    assert "system=weak" in browser.evaluate(f"document.querySelector({selector!r}).hash")
    browser.click(selector)
    browser.wait("document.getElementById('filter-system').value === '[\"weak\"]'")
    browser.wait("document.activeElement.id === 'case-title'")
    assert "weak" in " ".join(browser.texts(".dialogue > h4"))
    box = browser.evaluate("document.getElementById('viewer').getBoundingClientRect().top")
    assert 0 <= box < 450
    browser.evaluate("history.back()")
    browser.wait("location.hash === ''")
    browser.wait(f"document.querySelector({selector!r}).getBoundingClientRect().top > 0")
    assert browser.complaints() == []


def test_enter_on_a_number_opens_its_cases(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    browser.evaluate("document.querySelector('#board-1 a.to-cases').focus()")
    browser.press("Enter")
    browser.wait("location.hash.startsWith('#cases=dialogues')")
    browser.wait("document.activeElement.id === 'case-title'")


def test_every_number_leads_to_cases_that_there_are(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    links = browser.evaluate("[...new Set([...document.querySelectorAll('a.to-cases')].map(a => a.hash))]")
    assert len(links) > 5
    empty = []
    for link in links:
        browser.evaluate("document.getElementById('found').textContent = ''; 0")
        browser.evaluate(f"location.hash = {link!r}")
        browser.wait("document.getElementById('found').textContent")
        assert (link, browser.texts("#viewer-message")) == (link, [""])
        if browser.texts("#found")[0].startswith("None"):
            empty.append(link)
    assert [
        link for link in empty if "system=weak&opponent=human&protocol=gteval" not in link
    ] == []  # has a rate, but no verdict


def test_what_is_open_searched_filtered_and_sorted_is_there_again_from_the_address(
    browser: Browser, address: str
) -> None:
    browser.open(address, until=READY)
    browser.evaluate("document.querySelectorAll('#board-1 thead button')[6].click()")
    order = browser.texts("#board-1 tbody th span:first-child")
    browser.choose("filter-protocol", "UniEval")
    browser.choose("filter-outcome", "lost, judged AI, or label present")
    search(browser, "back door")
    browser.wait(f"{TITLE} === 'Seed MT-1'")
    browser.evaluate("document.querySelector('#models input[value=\"0\"]').click()")
    browser.wait("location.hash.includes('models=')")
    now = browser.evaluate("location.href")
    state = "[...document.querySelectorAll('#filter select, #search')].map(e => e.value).join('|')"
    before = (browser.evaluate(state), browser.texts(".dialogue > h4"), browser.texts("#found"))
    browser.open(now, until=f"{READY} && document.querySelector('#search').value")
    browser.wait("document.getElementById('found').textContent")
    assert (browser.evaluate(state), browser.texts(".dialogue > h4"), browser.texts("#found")) == before
    assert browser.texts("#board-1 tbody th span:first-child") == order
    assert "sort=board-1.6.down" in now


def test_back_returns_from_case_to_case(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=dialogues&case=MT-1", until=f"{TITLE} === 'Seed MT-1'")
    for number, name in ((3, "MT-10"), (2, "MT-2")):
        browser.evaluate(f"document.querySelector('#case-list li:nth-child({number}) button').click()")
        browser.wait(f"{TITLE} === 'Seed {name}'")
    for name in ("MT-10", "MT-1"):
        browser.evaluate("history.back()")
        browser.wait(f"{TITLE} === 'Seed {name}'")


def test_back_from_the_first_case_that_was_opened_returns_to_the_page_as_it_was(browser: Browser, address: str) -> None:
    for leave in (
        "document.querySelector('#case-list li:nth-child(3) button').click()",
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j'}))",
        "document.getElementById('search').value = 'MT-2';"
        "document.getElementById('search').dispatchEvent(new Event('input'))",
    ):
        browser.open(address, until=f"{TITLE} === 'Seed MT-1'")
        listed = browser.texts("#case-list li")
        browser.evaluate("document.getElementById('case-list').scrollIntoView()")
        place = browser.evaluate("scrollY")
        browser.evaluate(leave)
        browser.wait(f"{TITLE} !== 'Seed MT-1'")
        browser.evaluate("history.back()")
        browser.wait(f"{TITLE} === 'Seed MT-1'")
        assert browser.evaluate("location.hash") == "", leave
        assert browser.texts("#case-list li") == listed
        assert browser.evaluate("document.getElementById('search').value") == ""
        assert browser.evaluate("scrollY") == place
        browser.evaluate("history.forward()")
        browser.wait(f"{TITLE} !== 'Seed MT-1'")


def test_on_a_phone_a_case_of_the_list_comes_into_view_and_back_returns_to_the_list(
    browser: Browser, address: str
) -> None:
    top = "document.getElementById('{}').getBoundingClientRect().top"
    browser.look(400, 800)
    try:
        browser.open(address, until=f"{TITLE} === 'Seed MT-1'")
        browser.evaluate("document.getElementById('viewer').scrollIntoView()")
        assert browser.evaluate(f"{top.format('case-title')} > innerHeight / 2")
        browser.click("#case-list li:nth-child(3) button")
        browser.wait(f"{TITLE} !== 'Seed MT-1'")
        browser.wait(f"{top.format('case-title')} < innerHeight / 2")
        browser.evaluate("history.back()")
        browser.wait(f"{TITLE} === 'Seed MT-1'")
        browser.wait(f"{top.format('case-list')} > 0 && {top.format('case-title')} > innerHeight / 2")
    finally:
        browser.look(1200, 900)


def test_a_number_opens_its_cases_as_often_as_it_is_clicked(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    for _ in range(2):
        browser.click("#board-1 a.to-cases")
        browser.wait("Math.abs(document.getElementById('viewer').getBoundingClientRect().top) < innerHeight / 2")
        browser.evaluate("scrollTo(0, 0)")
    browser.evaluate("history.back()")
    browser.wait("location.hash === ''")


@pytest.mark.parametrize("width", [840, 1200])
def test_the_bar_at_the_top_covers_nothing_that_is_gone_to(browser: Browser, address: str, width: int) -> None:
    browser.look(width, 900)
    try:
        browser.open(f"{address}#cases=choices&case=q-2", until=f"{TITLE} === 'Question q-2'")
        edge = "document.querySelector('header').getBoundingClientRect().bottom"
        top = "document.getElementById('{}').getBoundingClientRect().top"
        browser.wait(f"{top.format('viewer')} < innerHeight / 2")
        assert browser.evaluate(f"{top.format('case-title')} >= {edge}")
        browser.evaluate("document.getElementById('open-keys').scrollIntoView(); scrollBy(0, 120)")
        assert browser.evaluate(f"document.querySelector('.chooser').getBoundingClientRect().top >= {edge}")
    finally:
        browser.look(1200, 900)


def test_an_id_that_begins_with_the_noun_is_not_named_twice(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    named = [browser.evaluate(f"nounBefore({noun!r}, {name!r})") for noun, name in TITLES]
    assert named == ["Case ", "", "", "Seed "]


TITLES = (("Case", "casement"), ("Case", "case 0"), ("case", "Case-1"), ("Seed", "MT-1"))


@pytest.mark.parametrize(
    ("old", "title"),
    [
        ("#cases=dialogues&case=MT-10&models=weak", "Seed MT-10"),
        ("#cases=dialogues&of=selfchat&case=MT-2", "Seed MT-2"),
        ("#cases=dialogues", "Seed MT-1"),
        ("#cases=choices&case=q-2", "Question q-2"),
        ("#cases=choices&of=first", "Question q-1"),
        ("#cases=dialogues&case=MT-2&judge=clerk,unknown", "Seed MT-2"),
        ("#cases=dialogues&case=%E0%A4%A&q=%", "Seed MT-1"),
    ],
)
def test_short_and_damaged_addresses_lead_somewhere(browser: Browser, address: str, old: str, title: str) -> None:
    browser.open(address + old, until=f"{TITLE} === {title!r}")
    assert browser.complaints() == []


def test_a_missing_target_of_an_address_is_reported(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=nothing", until=READY)
    assert browser.texts("#viewer-message") == ["This page has no cases of the kind “nothing”."]
    for wanted, said in (
        ("cases=dialogues&case=MT-99", "This page has no seed MT-99."),
        ("cases=dialogues&system=unknown&case=MT-1", "This page has no system “unknown”."),
        ("cases=choices&of=elsewhere", "This page has no group “elsewhere”."),
    ):
        browser.evaluate(f"location.hash = {wanted!r}")
        browser.wait(f"document.getElementById('viewer-message').textContent === {said!r}")


# ---- Searching ----


@pytest.mark.parametrize(
    ("words", "case", "marked"),
    [
        ("back DOOR", "MT-1", "back door"),
        (example.ARABIC[:6], "MT-2", example.ARABIC[:6]),
        ("吃了", "MT-2", "吃了"),
        ("mt-10", "MT-10", "MT-10"),
    ],
)
def test_search_opens_the_first_hit_and_marks_the_words(
    browser: Browser, address: str, words: str, case: str, marked: str
) -> None:
    browser.open(address, until=READY)
    search(browser, words)
    browser.wait(f"{TITLE} === 'Seed {case}'")
    browser.wait("document.querySelector('#reading mark')")
    assert set(browser.texts("#reading mark")) == {marked}
    assert browser.evaluate("document.activeElement.id") == "search"
    hit = browser.evaluate("document.querySelector('#reading mark').getBoundingClientRect().toJSON()")
    assert 0 <= hit["top"] <= 900
    assert 0 <= hit["left"] <= 1200


def test_a_hit_in_a_dialogue_that_is_not_shown_is_shown(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=dialogues&models=able&case=MT-10", until=READY)
    search(browser, "chat_end")
    browser.wait(f"{TITLE} === 'Seed MT-1'")
    browser.wait("document.querySelector('.dialogue mark')")
    assert browser.texts(".dialogue > h4") == ["able", "weak embedded"]


def test_no_hits_says_so_and_how_to_find_more(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=choices&of=first", until=READY)
    search(browser, "zebra")
    assert browser.texts("#found") == ["No hits: “zebra” does not occur in 2 questions."]
    assert browser.texts("#case-title") == ["No case"]
    assert browser.texts("#widen") == ["Search all"]
    browser.click("#widen")
    browser.wait("document.getElementById('found').textContent.includes('in 3 questions')")
    assert "try fewer or other words" in browser.texts("#found")[0]
    assert browser.evaluate("document.getElementById('widen').hidden")
    browser.choose("filter-result", "wrong")
    search(browser, "answer 2")
    assert browser.texts("#found") == [
        "No hits: “answer 2” does not occur in the 2 of 3 questions that the filter leaves."
    ]
    browser.click("#widen")
    browser.wait("document.getElementById('found').textContent === '1 of 3 questions'")
    assert "result" not in browser.evaluate("location.hash")


def test_words_are_marked_where_capitals_and_accents_are_written_otherwise(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    composed, decomposed = "caf\u00e9", "cafe\u0301"

    def marked(text: str, query: str) -> list[str]:
        browser.evaluate(f"window.probe = marking.fill(element('p'), {text!r}, marking.fold({query!r})); 0")
        assert browser.evaluate("window.probe.textContent") == text
        found: list[str] = browser.evaluate("[...window.probe.querySelectorAll('mark')].map(m => m.textContent)")
        return found

    assert marked(f"ein {decomposed} und CAF\u00c9", composed) == [decomposed, "CAF\u00c9"]
    assert marked("\u0130stanbul ist gro\u00df", "gro\u00df") == ["gro\u00df"]
    assert marked("a-b-a", "a") == ["a", "a"]
    assert marked("nothing", "x") == []


# ---- Cases of blocks ----


def test_every_kind_of_block_is_drawn(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=choices&case=q-1", until=f"{TITLE} === 'Question q-1'")
    assert browser.texts("#piece h4") == ["Before", "After", "Options", "Scores", "Answers"]
    assert browser.texts("del") == ["went"]
    assert browser.texts("ins") == [example.HOSTILE]
    assert browser.texts(".option.is-right p") == ["B option 0"]
    assert browser.texts(".option .detail") == [f"chosen by able, {example.HOSTILE}"]
    assert browser.texts("#piece td .value") == ["1.5"]
    assert browser.texts(".both-orders .verdict-line .muted") == [" shown first", " shown second"]
    assert browser.texts(".facts")[0] == f"{CARD['read']}; {CARD['facts']}"
    browser.click("details.sent summary")
    browser.wait("document.querySelector('details.sent pre')")
    assert browser.texts("details.sent .role") == ["system", "user"]
    assert browser.texts("details.sent pre") == ["Choose.\n", example.ODD + example.HOSTILE]
    browser.click("#versions button:nth-child(2)")
    browser.wait("document.querySelector('#piece-left .bubble p').textContent === 'auf Deutsch'")
    browser.wait("document.activeElement.dataset.version === 'de'")
    assert "version=de" in browser.evaluate("location.hash")
    browser.evaluate(
        "location.hash = '#cases=choices&case=' + encodeURIComponent(document.querySelector('ins').textContent)"
    )
    browser.wait(f"{TITLE} === {'Question ' + example.HOSTILE!r}")
    browser.click("details.sent summary")
    browser.wait("document.querySelector('details.sent .muted')")
    assert browser.texts("details.sent .muted") == ["This request is not in the page, to limit the size of the page."]
    assert browser.complaints() == []


def test_facets_filter_by_what_goes_together(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=choices&model=able&result=right", until=READY)
    browser.wait("document.getElementById('found').textContent === '2 of 3 questions'")
    browser.evaluate("location.hash = '#cases=choices&model=able&result=right,wrong'")
    browser.wait("document.getElementById('found').textContent === '3 of 3 questions'")
    assert (
        browser.evaluate("document.getElementById('filter-result').selectedOptions[0].textContent") == "right or wrong"
    )
    browser.choose("filter-model", "any")
    browser.choose("filter-result", "wrong")
    browser.wait("document.getElementById('found').textContent === '2 of 3 questions'")


# ---- Keys ----


def test_keys_step_search_and_help(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=dialogues", until=READY)
    for key, name in (("j", "MT-2"), ("j", "MT-10"), ("j", "MT-10"), ("k", "MT-2"), ("ArrowRight", "MT-10")):
        browser.press(key)
        browser.wait(f"{TITLE} === 'Seed {name}'")
    assert browser.texts("#message") == ["seed MT-10, 3 of 3"]
    browser.press("?")
    browser.wait("document.getElementById('keys').open")
    browser.press("k")
    browser.press("Escape")
    browser.wait("!document.getElementById('keys').open")
    assert browser.texts("#case-title") == ["Seed MT-10"]
    browser.press("/")
    browser.wait("document.activeElement.id === 'search'")
    browser.press("j", "k", "?", "/")
    assert browser.evaluate("document.activeElement.value") == "jk?/"
    browser.evaluate("document.activeElement.value = ''; 0")
    browser.press("Escape")
    browser.wait("document.activeElement.id === 'case-title'")


def test_arrows_walk_the_list_and_letters_can_be_turned_off(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=dialogues", until=READY)
    browser.evaluate("document.querySelector('#case-list button').focus()")
    browser.press("ArrowDown")
    browser.wait("document.activeElement.dataset.place === '1'")
    assert browser.texts("#case-title") == ["Seed MT-2"]
    browser.evaluate("document.getElementById('letters').click()")
    browser.press("j")
    browser.press("ArrowUp")
    browser.wait("document.activeElement.dataset.place === '0'")
    assert browser.texts("#case-title") == ["Seed MT-1"]


def test_tab_reaches_everything_and_is_never_caught(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=dialogues", until=READY)
    browser.evaluate("document.getElementById('shelf').focus()")
    walked = []
    for _ in range(60):
        walked.append(browser.evaluate("document.activeElement.id || document.activeElement.tagName"))
        browser.press("Tab")
        if browser.evaluate("!document.getElementById('viewer').contains(document.activeElement)"):
            break
    else:
        pytest.fail(f"the viewer is never left: {walked}")
    ways = ["shelf", "search", "filter-system", "filter-outcome", "filter-protocol", "next", "open-keys", "columns"]
    assert [name for name in walked if name in ways] == ways


# ---- Barriers and attacks ----


@pytest.mark.parametrize(("kind", "width"), [("dialogues", 1200), ("choices", 390)])
def test_nothing_keeps_people_out_with_everything_open(browser: Browser, address: str, kind: str, width: int) -> None:
    if AXE is None:
        pytest.skip("axe-core-python is not installed")
    browser.look(width, 900)
    browser.open(f"{address}#cases={kind}", until=READY)
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.getElementById('case-title').getBoundingClientRect().top") < 450
    assert browser.barriers() == []
    if width < 600:  # while it is open, nothing else can be reached, and only it is looked at
        browser.evaluate("document.getElementById('keys').showModal()")
        assert browser.barriers() == []
    browser.look(1200, 900)


ATTACKS = (
    "<script>alert(1)</script>", "</script><script>alert(2)</script>", '"><img src=x onerror=alert(3)>',
    "' onmouseover='alert(4)", "javascript:alert(5)", "<svg onload=alert(6)>", "<iframe srcdoc='<script>alert(7)'>",
    "{{ 7 * 7 }}{% raw %}", "${alert(9)}", "__proto__", "constructor", "toString", "&lt;script&gt;alert(13)",
    "a,b&cases=choices#c=d", "100%25 %zz", "line\u2028and\u2029line", "\u202eturned\u202c", "<!-- ]]> -->",
    "data:text/html,<script>alert(19)</script>", "../../etc/passwd?x=1/2", "<a href=https://example.org>x</a>",
)  # fmt: skip


@pytest.fixture(scope="module")
def attacked(written: Callable[[str], str]) -> str:
    """A page whose every name is an attack: systems, judges, ids, and all that is said and found."""
    human = [
        {"corpus": "made", "dialogue_id": text, "turn": turn, "speaker": text, "text": text, "language": "en"}
        for text in ATTACKS
        for turn in range(2)
    ]
    run = example.inputs(
        title=ATTACKS[0],
        chatbots=ATTACKS,
        judges=ATTACKS,
        embedded=frozenset(),
        human=to_table(UTTERANCES, human),
        seeds=to_table(
            SEEDS,
            [
                {"seed_id": text, "corpus": "made", "language": text, "utterances": [text], "n_human": 2}
                | {"for_arena": True, "for_gteval": True}
                for text in ATTACKS
            ],
        ),
        generated=to_table(
            GENERATED,
            [
                {"chatbot": text, "seed_id": text, "turn": 1, "origin": "model", "text": text, "dropped": 0}
                | {"finish_reason": text}
                for text in ATTACKS
            ],
        ),
        verdicts=to_table(
            JUDGEMENTS,
            [
                example.verdict("unieval", text, text, judge=text, choice="Yes", place=2, reason=text, status=text)
                for text in ATTACKS
            ],
        ),
        tables={
            "unieval/pass_rates": to_table(
                PASS_RATES, [example._rate(text, 4, 0.5) | {"judge": text, "note": text} for text in ATTACKS]
            )
        },
    )
    return written(build_report(run))


def test_twenty_attacks_are_shown_and_not_run(browser: Browser, attacked: str) -> None:
    script = browser.command(
        "Page.addScriptToEvaluateOnNewDocument", source="window.alert = () => { window.alarmed = true; };"
    )
    browser.open(attacked, until=READY)
    assert browser.texts("#case-list strong") == list(ATTACKS)
    for number, text in enumerate(ATTACKS):
        browser.evaluate(
            "location.hash = '#cases=dialogues&' + Object.entries("
            f"{{case: {text!r}, system: {text!r}, judge: {text!r}, protocol: 'unieval', q: {text!r}}}"
            ").map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')"
        )
        browser.wait(f"{TITLE} === {'Seed ' + text!r}")
        browser.wait(f"document.querySelector('#models input[value=\"{number + 1}\"]')?.checked")
        assert (text, browser.texts("#viewer-message")) == (text, [""])
        browser.wait(f"[...document.querySelectorAll('.dialogue mark')].some(m => m.textContent === {text!r})")
        browser.wait(f"document.querySelector('.dialogue .reason')?.textContent === {text!r}")
    assert len(ATTACKS) > 20
    assert len(set(browser.texts("#board-1 a.to-cases"))) >= 1
    assert (
        browser.evaluate("document.querySelectorAll('main :is(iframe, object, embed, [onerror], [onload])').length")
        == 0
    )
    assert browser.evaluate("document.querySelectorAll('main script:not([type=\"text/plain\"])').length") == 0
    assert browser.evaluate("window.alarmed") is None
    assert [url for url in browser.requested() if not url.startswith(("data:", attacked))] == []
    assert browser.complaints() == []
    browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])

"""An answer is a translation, or has the reason why it is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.translation.checks import STATUSES, read_translation

LONG = "I was not able to come to the lectures last week, can you tell me about them?"
GERMAN = "Ich konnte letzte Woche nicht zu den Vorlesungen kommen, kannst du mir davon erzählen?"


@pytest.mark.parametrize(
    ("source", "answer", "target", "text", "status"),
    [
        ("Good morning!", "Guten Morgen!", "de", "Guten Morgen!", "ok"),
        ("", None, "de", "", "blank"),
        ("  ", None, "de", "  ", "blank"),
        ("Hi.", None, "de", "", "failed"),
        ("Hi.", "  ", "de", "", "empty"),
        ("Hi.", "<think>hm</think>Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "Hallo.<chat_end>", "de", "Hallo.", "ok"),
        ("Hi.", '"Hallo."', "de", "Hallo.", "ok"),
        ("Hi.", "„Hallo.“", "de", "Hallo.", "ok"),
        ('"Hi."', '"Hallo."', "de", '"Hallo."', "ok"),
        ("Hi.", "A: Hallo.", "de", "Hallo.", "ok"),
        ("B: no.", "B: nein.", "de", "B: nein.", "ok"),
        ("Hi.", "Translation: Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "**German translation:** Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "Here is the translation:\n\nHallo.", "de", "Hallo.", "ok"),
        ("Hi.", "Hallo.\n\nNote: this is informal.", "de", "Hallo. Note: this is informal.", "lines"),
        ("See <name> at http://a.b/c.", "Sieh <name> auf http://a.b/c an.", "de", None, "ok"),
        ("See <name>.", "Sieh <Name>.", "de", None, "marks"),
        ("See {city}.", "Sieh die Stadt.", "de", None, "marks"),
        ("Say [PERSON].", "Sag [PERSON] [PERSON].", "de", None, "marks"),
        ("I <3 you", "Ich <3 dich", "de", None, "ok"),
        ("ok", "ok", "es", "ok", "ok"),
        ("Tom Hanks!", "Tom Hanks!", "zh", None, "ok"),
        ("Hi.", "**Hallo.**", "de", "Hallo.", "ok"),
        ("Hi.", "```text\nHallo.\n```", "de", "Hallo.", "ok"),
        ("Hi.", "- Hallo.", "de", "Hallo.", "ok"),
        ("- Hi.", "- Hallo.", "de", "- Hallo.", "ok"),
        ("Hi.", '{"translation": "Hallo."}', "de", "Hallo.", "ok"),
        ("Hi.", "<translation>Hallo.</translation>", "de", "Hallo.", "ok"),
        ("Hi.", "**A:** Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "German: Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "Übersetzung: Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "Here's the German translation: Hallo.", "de", "Hallo.", "ok"),
        ("Hi.", "翻译：你好。", "zh", "你好。", "ok"),
        ("Translation: it is hard.", "Übersetzung: Es ist schwer.", "de", "Übersetzung: Es ist schwer.", "ok"),
        ("翻译：很难。", "Translation: it is hard.", "en", "Translation: it is hard.", "ok"),
        ("我翻译得很差：没人懂。", "My translation skills are poor: nobody understands.", "en", None, "ok"),
        ("Hi.", "Hallo. (Note: informal.)", "de", None, "lines"),
        ("Hi (Tom).", "Hallo (Tom).", "de", None, "ok"),
        ("Hi.", "</think>Hallo.", "de", None, "marks"),
        ("Hi.", "Hallo.<|im_end|>", "de", None, "marks"),
        ("Mail me@x.org or see http://a.b/c.", "写信给me@x.org或者看http://a.b/c。好吗", "zh", None, "ok"),
        ("I say __SILENCE__ and %s now", "我说__SILENCE__的%s的", "zh", None, "ok"),
        (LONG, "Lo siento, no puedo traducir este texto.", "es", None, "refused"),
        ("Hi.", 'The German translation of "Hi." is "Hallo."', "de", None, "refused"),
        ("Hi.", "I'm sorry, but I can't help with that.", "zh", None, "script"),
        (LONG, "Of course! They were about the nests that birds build.", "es", None, "language"),
        (LONG, "Je n'ai pas pu venir au cours la semaine dernière.", "es", None, "language"),
        (LONG, "먼저 지난주 강의에 가지 못했어요.", "zh", None, "script"),
        (LONG, "先週は講義に行けませんでした、教えてください。", "zh", None, "script"),
        (LONG, "上周我没能去上课你能给我讲讲吗", "ja", None, "script"),
        ("How are you?", "How are you?", "es", None, "unchanged"),
        ("The Who!", "The Who!", "es", None, "ok"),
        ("Lake Garda, Lake Como, Lake Iseo", "Lake Garda, Lake Como, Lake Iseo", "es", None, "ok"),
        ("I read Winds of Winter.", "我读 Winds of Winter。", "zh", None, "ok"),
        ("LOL", "jajajajajajajajajajajajaja", "es", None, "ok"),
        ("💡 42", None, "de", "💡 42", "blank"),
        (LONG, LONG.lower() + " !", "de", None, "unchanged"),
        (LONG, GERMAN, "zh", None, "script"),
        (LONG, "上周我没能去上课,你能给我讲讲吗?", "zh", None, "ok"),
        ("上周我没能去上课,你能给我讲讲吗?", LONG, "en", None, "ok"),
        (LONG, "先週は講義に行けませんでした。", "ja", None, "ok"),
        (LONG, "먼저 지난주 강의에 가지 못했어요.", "ko", None, "ok"),
        (LONG, "لم أتمكن من حضور المحاضرات", "ar", None, "ok"),
        (LONG, "मैं पिछले हफ्ते नहीं आ सका", "hi", None, "ok"),
        (LONG * 2, "Ich kam nicht.", "de", None, "short"),
        ("Hi there.", GERMAN * 3, "de", None, "long"),
        (LONG, "ja, ja, ja, ja, ja, ja, ja, ja", "de", None, "repeats"),
        ("no no no no no no no no", "nein nein nein nein nein nein nein nein", "de", None, "ok"),
    ],
)
def test_what_becomes_of_an_answer(source: str, answer: str | None, target: str, text: str | None, status: str) -> None:
    found = read_translation(source, answer, target)
    assert found.status == status
    assert text is None or found.text == text


def test_an_answer_that_did_not_end_is_none() -> None:
    assert read_translation("Hi.", "Hal", "de", "length").status == "cut"
    assert read_translation("Hi.", "I cannot.", "de", "refusal").status == "refused"


@given(st.text(max_size=60), st.text(max_size=120), st.sampled_from(["zh", "de", "ar"]))
def test_every_answer_has_a_status_and_one_line(source: str, answer: str, target: str) -> None:
    found = read_translation(source, answer, target)
    assert found.status in STATUSES
    assert found.status == "blank" or "\n" not in found.text

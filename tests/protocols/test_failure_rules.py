"""What the rules say of dialogues, as judgements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from judged_dialogues import items_of

from dialeval.corpora.items import Item, judged_places
from dialeval.protocols.failure_rules import PHRASES, Rules, judgements, knows, phrase_of
from dialeval.tables.files import HUMAN

RULES = Rules({"en": 6}, 0.99)
SEED = ("As an AI language model, I greet you from here to there.", "Hello you.")


def judged(item: Item, rules: Rules = RULES) -> dict[str, tuple[str, list[int] | None]]:
    rows: list[dict[str, Any]] = list(judgements("failures", [item], rules))
    assert {row["judge"] for row in rows} <= {"rules"}
    assert {row["status"] for row in rows} <= {"ok"}
    assert all(row["place"] == (row["places"][0] if row.get("places") else None) for row in rows if "place" in row)
    return {row["criterion"]: (row["choice"], row.get("places")) for row in rows}


def bot(*more: str, corpus: str = "selfchat") -> Item:
    return items_of({"bot": {"s": (*SEED, *more)}}, corpus=corpus)[0]


def test_each_kind_is_found_where_it_is_and_a_seed_is_nobodys() -> None:
    assert judged(
        bot("Fine.", "I'm an AI, you know.", "one two three four five six seven", "I'm an AI, you know.")
    ) == {
        "self_identification": ("Yes", [4, 6]),
        "excessive_length": ("Yes", [5]),
        "repetitive_phrasing": ("Yes", [6]),
        "good_case": ("No", None),
    }
    assert judged(bot("Fine.", "And you?")) == {
        "self_identification": ("No", []),
        "excessive_length": ("No", []),
        "repetitive_phrasing": ("No", []),
        "good_case": ("Yes", None),
    }


def test_transcripts_begin_without_other_words_and_a_user_is_not_judged() -> None:
    item = bot("Fine.", "And you?", corpus="support")
    assert judged(item)["self_identification"] == ("Yes", [1])
    assert judged(replace(item, judged="B")) == judged(bot("Fine.", "And you?"))


def test_a_language_without_people_or_phrases_is_not_judged_by_them_and_no_case_is_called_good() -> None:
    german = replace(bot("eins zwei drei vier fünf sechs sieben", "Ich bin eine KI."), language="de")
    assert list(judged(german)) == ["self_identification", "repetitive_phrasing"]
    assert list(judged(replace(german, language="xx"))) == ["repetitive_phrasing"]


def test_silent_speakers_are_not_judged() -> None:
    assert judged(bot()) == {}
    assert judged(replace(bot("Fine."), judged="C")) == {}


def test_people_are_judged_from_the_same_place_on() -> None:
    human, machine = items_of({name: {"s": (*SEED, "Fine.", "So am I.")} for name in (HUMAN, "bot")})
    assert judged_places(human, 2) == judged_places(machine, 2) == (3, 4)
    assert judged(human) == judged(machine)


def test_reasons_name_the_measure() -> None:
    rows = judgements("failures", [bot("Fine, as an AI.", "one two three four five six seven")], RULES)
    reasons = {row["criterion"]: row["reason"] for row in rows}
    assert reasons["excessive_length"] == "7 words; 99% of human utterances have at most 6"
    assert reasons["self_identification"] == "'as an ai'"
    assert reasons["repetitive_phrasing"] == ""


# Who says of itself that it is an AI, and who only talks about one.

SAID = {
    "en": [
        "As an AI, I don't eat.", "I'm an AI language model, so no.", "I am an AI program which can be used",
        "We are both AIs!",
        "I'm just a chatbot.", "As an AI language model,", "I’m an A.I. assistant", "My name is AI Assistant.",
        "I am a large language model trained by OpenAI.", "I was created to help you.",
        "As a computer program, I cannot",
        "I don't have personal preferences", "I'm not a real person.", "I am an AI and I can't eat", "I'm ChatGPT",
        "Being an AI, I don't sleep.", "I am a virtual assistant created by them", "I'm an AI-powered assistant.",
    ],
    "zh": ["作为一个人工智能助手，我没有感情", "我是AI", "我是一个大型语言模型", "身为AI语言模型"],
    "de": ["Als KI habe ich keine", "Ich bin nur ein Sprachmodell.", "Ich bin eine KI."],
    "es": ["Como modelo de lenguaje, no", "Soy una inteligencia artificial."],
    "fr": ["En tant qu'IA, je ne mange pas", "Je suis une intelligence artificielle"],
    "ja": ["私はAIです", "AIなので食べません", "AIとしては"],
    "ko": ["저는 AI 언어 모델입니다", "인공지능으로서"],
    "ru": ["Я — языковая модель", "Как искусственный интеллект, я не ем"],
}  # fmt: skip
NOT_SAID = {
    "en": [
        "I'm an AI fan.", "I'm an AI researcher at a lab", "As an AI engineer, I work late", "Are you an AI?",
        "I'm not an AI.", "You think I'm an AI?", "If I'm an AI, so are you", "I'm your assistant.",
        "We talked about AI.",
        "As an assistant manager I earn more", "I am an AI and robotics student", "I was trained to help people",
        "I don't have any hobbies.", "I'm an aide.", "I'm not a person who likes tea", "I work as an AI trainer",
        "The AI said it is an AI model.", "I'm a computer programmer", "As a model, I travel", "I am an air hostess",
        "I'm not human before coffee", "I don't have feelings for him", "",
    ],
    "zh": ["我是人工智能工程师", "你是机器人吗？", "我是AI爱好者", "作为人工智能专业的学生"],
    "de": ["Ich bin KI-Forscher.", "Bist du eine KI?", "Als Kind", "als KI-Forscherin"],
    "es": ["¿Eres una IA?", "Soy experta en IA"],
    "fr": ["Es-tu une IA ?", "Je suis chercheur en IA"],
    "ja": ["あなたはAIですか", "AIの研究をしています"],
    "ko": ["당신은 AI인가요?", "저는 AI 연구원입니다"],
    "ru": ["Ты искусственный интеллект?", "я изучаю ИИ"],
}  # fmt: skip


@pytest.mark.parametrize("language", list(PHRASES))
def test_who_says_so_is_found_and_who_talks_about_it_is_not(language: str) -> None:
    assert [text for text in SAID[language] if not phrase_of(text, language)] == []
    assert [text for text in NOT_SAID[language] if phrase_of(text, language)] == []


def test_the_words_are_printed() -> None:
    assert phrase_of("Well,\nas an AI language\tmodel, I never sleep", "en") == "as an ai language model"


def test_of_other_languages_nothing_is_known() -> None:
    assert [language for language in ("en", "hi", "ar", "xx") if knows(language)] == ["en"]

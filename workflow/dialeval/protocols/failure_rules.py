"""Failures that rules find in dialogues: self-identification, excessive length, repetition.

An utterance is a repetition if at least half of its runs of words stand in the speaker's earlier utterances. Runs have
three words, or five characters in scripts without blanks. Shorter utterances than `FEWEST_WORDS`, such as "Thank you",
do not count: people repeat them, too.

Self-identification is a phrase of `PHRASES` about the speaker: "as an AI language model", "I am an AI assistant", "I
don't have personal feelings"; not talk about AI, an AI researcher, or somebody's assistant. Languages without phrases
are not checked.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from dialeval.corpora.items import Item, judged_places
from dialeval.criteria import FAILURES_BY_RULE, LENGTH, NO_FAILURE, REPETITION, RULED_FAILURES, SELF_IDENTIFICATION
from dialeval.protocols.planned_requests import judgement
from dialeval.text import is_unspaced, is_word, tokens


@dataclass(frozen=True)
class Found:
    """A failure in a dialogue: the places, from 1, of its utterances, and the evidence in the first or worst one."""

    places: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True)
class Rules:
    """The settings of the rules.

    Attributes:
        limits: largest number of words of an utterance, by language; without one, length is not checked.
        share: the share of human utterances that keeps to the limit.
        n_seed_utterances: utterances of a ChatSEED.
    """

    limits: Mapping[str, int]
    share: float
    n_seed_utterances: int = 2

    def check(self, item: Item) -> dict[str, Found]:
        """Return the failures of a dialogue, by kind; a rule without the dialogue's language is absent."""
        places = judged_places(item, self.n_seed_utterances)
        judged = {place: item.utterances[place - 1] for place in places}
        found = {REPETITION: Found(repeated(item.utterances, item.speakers, places))}
        if (limit := self.limits.get(item.language)) is not None:
            found[LENGTH] = self._length(judged, limit)
        if knows(item.language):
            phrases = {place: phrase for place, text in judged.items() if (phrase := phrase_of(text, item.language))}
            found[SELF_IDENTIFICATION] = Found(tuple(phrases), next((f"'{quoted}'" for quoted in phrases.values()), ""))
        return found

    def _length(self, judged: Mapping[int, str], limit: int) -> Found:
        places = too_long(judged, limit)
        longest = max((n_words(judged[place]) for place in places), default=0)
        words = f"{longest} words; {100 * self.share:.4g}% of human utterances have at most {limit}"
        return Found(places, words if places else "")


def judgements(protocol: str, items: Iterable[Item], rules: Rules) -> Iterator[dict[str, Any]]:
    """Yield rows of the table `judgements`: a row for each dialogue and kind, and whether it is a good case.

    Args:
        protocol: whose judgements they are.
        items: dialogues of systems, and of people beside them.
    """
    for item in items:
        if not judged_places(item, rules.n_seed_utterances):
            continue
        columns = {
            "protocol": protocol,
            "request_id": f"{protocol}/{item.corpus}/{item.item_id}",
            "corpus": item.corpus,
            "language": item.language,
            "item_id": item.item_id,
            "case_id": item.case_id or None,
            "left": item.system,
            "n_utterances": len(item.utterances),
        }
        found = rules.check(item)
        for kind in RULED_FAILURES:
            if one := found.get(kind):
                places, reason = one.places, one.reason
                choice = "Yes" if places else "No"
                place = places[0] if places else None
                verdict = {"choice": choice, "place": place, "places": list(places), "reason": reason}
                yield judgement(columns, "ok", judge=FAILURES_BY_RULE, criterion=kind, **verdict)
        if len(found) == len(RULED_FAILURES):
            good = "No" if any(one.places for one in found.values()) else "Yes"
            yield judgement(columns, "ok", judge=FAILURES_BY_RULE, criterion=NO_FAILURE, choice=good)


# Excessive length: an utterance longer than nearly all of people's.


def n_words(text: str) -> int:
    """Return the number of words; in scripts without blanks every character is one."""
    return sum(map(is_word, tokens(text)))


def longest_of_people(utterances: Iterable[tuple[str, str]], quantile: float) -> dict[str, int]:
    """Return by language the length in words that the given share of human utterances does not exceed.

    It is the length of an utterance: the smallest one that at least this share keeps to.

    Args:
        utterances: language and text of human utterances.
        quantile: the share, such as 0.99.
    """
    lengths: dict[str, list[int]] = defaultdict(list)
    for language, text in utterances:
        lengths[language].append(n_words(text))
    return {
        language: sorted(found)[max(math.ceil(quantile * len(found)) - 1, 0)] for language, found in lengths.items()
    }


def too_long(utterances: Mapping[int, str], limit: int) -> tuple[int, ...]:
    """Return the places of the utterances that are longer than a limit in words.

    Args:
        utterances: what is judged, by place.
        limit: words.
    """
    return tuple(place for place, text in utterances.items() if n_words(text) > limit)


# Repetition of the same speaker's words.

RUN, RUN_UNSPACED = 3, 5
FEWEST_WORDS, FEWEST_UNSPACED = 4, 6
LEAST_SHARE = 0.5


def repeated(utterances: Sequence[str], speakers: Sequence[str], judged: Collection[int]) -> tuple[int, ...]:
    """Return the places, from 1, of the judged utterances that repeat their speaker's own earlier words.

    Args:
        utterances: all of a dialogue, in order.
        speakers: who says each of them.
        judged: places of the judged utterances.
    """
    earlier: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    found = []
    for place, (text, speaker) in enumerate(zip(utterances, speakers, strict=True), start=1):
        runs = _runs(text)
        if place in judged and runs and sum(run in earlier[speaker] for run in runs) >= LEAST_SHARE * len(runs):
            found.append(place)
        earlier[speaker].update(runs)
    return tuple(found)


def _runs(text: str) -> list[tuple[str, ...]]:
    """Return the runs of words of an utterance, none of one that is too short."""
    words = tuple(token for token in tokens(text) if is_word(token))
    unspaced = 2 * sum(len(word) == 1 and is_unspaced(word) for word in words) > len(words)
    n, fewest = (RUN_UNSPACED, FEWEST_UNSPACED) if unspaced else (RUN, FEWEST_WORDS)
    return [words[start : start + n] for start in range(len(words) - n + 1)] if len(words) >= fewest else []


# Self-identification as an AI.

_MACHINE = (
    r"(?:(?:\w+[- ]){0,2}?(?:a\.?i\.?|artificial intelligence|(?:large )?language model|chat ?bot|virtual assistant|"
    r"digital assistant|computer program(?:me)?|ai|llm)"
    r"(?:[- ](?:powered|based|driven))?(?: (?:large |language )*(?:model|assistant|program(?:me)?|chat ?bot|bot|system|"
    r"agent|companion|helper|entity))?)"
)
_ENDS = (  # what may follow, so that an AI is meant and not an AI engineer
    r"(?=\s*(?:[.,;:!?…)\"”—–]|$)|\s+(?:who|that|which|but|here|myself|designed|trained|created|developed|programmed|"
    r"made|built|without|from|by|i|my|it|too|not|(?:and|so|with) (?:i|my|it|you|we|no|am|can|cannot|can't|do|don't))\b)"
)
_NOT_REPORTED = r"(?<!if )(?<!that )(?<!think )(?<!thinks )(?<!thought )(?<!say )(?<!said )(?<!says )(?<!wish )"
_I_AM, _I_WAS = r"\bi(?:'m| am)", r"\bi(?:'m| am| was|'ve been| have been)"
_DONT_HAVE = r"\bi (?:do not|don't|cannot|can't) (?:actually |really |truly )?(?:have|possess|experience) (?:a |any )?"
_NAMES = r"(?:chatgpt|claude|bard|gemini|gpt-?[\d.]+|vicuna|chatglm|internlm|qwen)"
_MAKERS = r"(?:openai|anthropic|google|meta|microsoft|lmsys|alibaba|baidu|tsinghua)"
_ENGLISH = (
    rf"\b(?:as|being) an? {_MACHINE}{_ENDS}",
    rf"{_NOT_REPORTED}{_I_AM}(?: (?:just|only|actually|simply|really|still|but|also))* an? {_MACHINE}{_ENDS}",
    rf"{_NOT_REPORTED}\bwe(?:'re| are)(?: both)?(?: (?:just|only))* (?:ais?|language models|chat ?bots){_ENDS}",
    rf"\bmy name is (?:{_MACHINE}|{_NAMES})\b",
    rf"{_I_AM} {_NAMES}\b",
    rf"{_DONT_HAVE}personal (?:preferences|feelings|emotions|opinions|experiences|interests|hobbies)",
    rf"{_DONT_HAVE}(?:feelings or emotions|emotions or feelings|physical (?:body|form|existence|presence))",
    rf"{_DONT_HAVE}(?:personal )?hobbies (?:or \w+ )?in the (?:same|traditional)",
    rf"{_I_WAS} (?:just |only )?(?:designed|programmed|created|built)(?: (?:and|or) \w+)? to\b",
    rf"{_I_WAS} (?:\w+ )?(?:trained|created|developed|built|made) by {_MAKERS}",
    rf"{_I_AM} not (?:a real (?:person|human)|(?:a )?human(?: being)?)\b(?= ?[.,;!]|$| but| like you)",
)
_CHINESE = r"(?:一(?:个|名|位|款))?(?:\w{0,6})?(?:ai|人工智能|(?:大型?)?语言模型|聊天机器人|智能助手|虚拟助手|机器人)"
_NO_AI = r"(?!工程师|研究|专家|爱好者|公司|专业|领域|行业|时代|技术|迷|粉)"
_GERMAN = (
    r"(?:ki|künstliche intelligenz|sprachmodell|ki-(?:assistent(?:in)?|modell|sprachmodell|system)|chatbot|"
    r"virtueller? assistent(?:in)?)\b(?!-)"
)
_SPANISH = r"(?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|asistente virtual|chatbot)\b"
_FRENCH = r"(?:une? )?(?:ia|intelligence artificielle|modèle de langage|assistante? virtuelle?|chatbot)\b"
_JAPANESE = r"(?:ai|人工知能|(?:大規模)?言語モデル|aiアシスタント|チャットボット)"
_KOREAN = r"(?:ai|인공 ?지능|언어 ?모델|챗봇)"
_RUSSIAN = r"(?:искусственный интеллект|ии|языковая модель|чат-бот|виртуальный (?:помощник|ассистент))\b"
PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "en": _ENGLISH,
        "zh": (
            rf"(?:作为|身为){_CHINESE}{_NO_AI}",
            rf"(?<!如果)(?<!以为)(?<!觉得)(?<!假如)我(?:只|其实|也)?是{_CHINESE}{_NO_AI}",
            r"我没有(?:个人的?|自己的|真正的|人类的)?(?:情感|感情|感受|情绪|身体|喜好|偏好)",
        ),
        "de": (
            rf"\bals (?:eine? )?{_GERMAN}",
            rf"(?<!ob )(?<!dass )\bich bin (?:nur |bloß |doch |eigentlich )*(?:eine? )?{_GERMAN}",
            r"\bich habe keine (?:persönlichen |eigenen |menschlichen )"
            r"(?:gefühle|emotionen|vorlieben|erfahrungen|hobbys)",
        ),
        "es": (
            rf"\bcomo {_SPANISH}",
            rf"(?<!si )(?<!que )\b(?:yo )?soy (?:solo |sólo )?{_SPANISH}",
            r"\bno tengo (?:sentimientos|emociones|preferencias|experiencias) personales\b",
        ),
        "fr": (
            rf"\ben tant qu(?:e |'){_FRENCH}",
            rf"(?<!si )(?<!que )\bje (?:ne )?suis (?:qu'|juste |seulement )?{_FRENCH}",
            r"\bje n'ai pas d(?:e |')(?:sentiments|émotions|préférences|expériences) personnel",
        ),
        "ja": (
            rf"{_JAPANESE}(?:である私|ですので|なので|として(?:は|の私)?)",
            rf"私は(?:ただの|単なる)?{_JAPANESE}(?:です|だ|である|なので|であり)",
            r"私には(?:個人的な)?(?:感情|気持ち)(?:は|が)(?:ありません|ない)",
        ),
        "ko": (
            rf"(?:저는|나는|전|난) (?:단지 |그저 )?{_KOREAN}(?: (?:비서|언어 모델|챗봇|모델|어시스턴트))?"
            r"(?:입니다|이에요|예요|이다|이라|라서|이므로)",
            rf"{_KOREAN}(?:으)?로서",
        ),
        "ru": (
            rf"\bкак {_RUSSIAN}(?=[ ,.]*(?:я\b|у меня|,))",
            rf"(?<!если )(?<!что )\bя (?:всего лишь |просто |лишь )?[—–-]? ?{_RUSSIAN}",
            r"\bу меня нет (?:личных |собственных )(?:чувств|эмоций|предпочтений)",
        ),
    }
)
"""Language code -> patterns, over text in lower case with plain apostrophes."""
_COMPILED = {language: re.compile("|".join(patterns)) for language, patterns in PHRASES.items()}


def knows(language: str) -> bool:
    """Return whether there are phrases in a language."""
    return language in _COMPILED


def phrase_of(text: str, language: str) -> str:
    """Return the phrase in which a speaker identifies itself as an AI, in lower case; empty without one.

    Args:
        language: one that `knows` knows.
    """
    plain = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).lower().replace("’", "'"))
    found = _COMPILED[language].search(plain)
    return found[0].strip(" .,;:") if found else ""

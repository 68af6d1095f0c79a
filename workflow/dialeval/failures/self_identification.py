"""Self-identification: a speaker says of itself that it is an AI.

Phrases in the languages of `PHRASES`, each about the speaker itself: "as an AI language model", "I am an AI assistant",
"I don't have personal feelings". Who talks about AI, is an AI researcher, or asks whether the other is one, says
nothing of the kind, nor who is somebody's assistant. In other languages the rule knows nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

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
_NOT_SAID = r"(?<!if )(?<!that )(?<!think )(?<!thinks )(?<!thought )(?<!say )(?<!said )(?<!says )(?<!wish )"
_ENGLISH = (
    rf"\b(?:as|being) an? {_MACHINE}{_ENDS}",
    rf"{_NOT_SAID}\bi(?:'m| am)(?: (?:just|only|actually|simply|really|still|but|also))* an? {_MACHINE}{_ENDS}",
    rf"{_NOT_SAID}\bwe(?:'re| are)(?: both)?(?: (?:just|only))* (?:ais?|language models|chat ?bots|ai assistants)\b{_ENDS}",
    rf"\bmy name is (?:{_MACHINE}|chatgpt|claude|bard|gemini|vicuna|chatglm)\b",
    r"\bi(?:'m| am) (?:chatgpt|claude|bard|gemini|gpt-?[\d.]+|vicuna|chatglm|internlm|qwen)\b",
    r"\bi (?:do not|don't|cannot|can't) (?:actually |really |truly )?(?:have|possess|experience) (?:a |any )?"
    r"(?:personal (?:preferences|feelings|emotions|opinions|experiences|interests|hobbies)|feelings or emotions|"
    r"emotions or feelings|physical (?:body|form|existence|presence)|(?:personal )?hobbies (?:or \w+ )?in the (?:same|"
    r"traditional))",
    r"\bi(?:'m| am| was|'ve been| have been) (?:just |only )?(?:designed|programmed|created|built)(?: (?:and|or) \w+)? to\b",
    r"\bi(?:'m| am| was|'ve been| have been) (?:\w+ )?(?:trained|created|developed|built|made) by (?:openai|anthropic|google|"
    r"meta|microsoft|lmsys|alibaba|baidu|tsinghua)",
    r"\bi(?:'m| am) not (?:a real (?:person|human)|(?:a )?human(?: being)?)\b(?= ?[.,;!]|$| but| like you)",
)
PHRASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "en": _ENGLISH,
        "zh": (
            r"(?:作为|身为)(?:一(?:个|名|位|款))?(?:\w{0,6})?(?:ai|人工智能|(?:大型?)?语言模型|聊天机器人|智能助手|虚拟助手|机器人)"
            r"(?!工程师|研究|专家|爱好者|公司|专业|领域|行业|时代|技术)",
            r"(?<!如果)(?<!以为)(?<!觉得)(?<!假如)我(?:只|其实|也)?是(?:一(?:个|名|位|款))?(?:\w{0,6})?"
            r"(?:ai|人工智能|(?:大型?)?语言模型|聊天机器人|智能助手|虚拟助手|机器人)"
            r"(?!工程师|研究|专家|爱好者|公司|专业|领域|行业|时代|技术|迷|粉)",
            r"我没有(?:个人的?|自己的|真正的|人类的)?(?:情感|感情|感受|情绪|身体|喜好|偏好)",
        ),
        "de": (
            r"\bals (?:eine? )?(?:ki|künstliche intelligenz|sprachmodell|ki-(?:assistent(?:in)?|modell|"
            r"sprachmodell|system)|chatbot|virtueller? assistent(?:in)?)\b(?!-)",
            r"(?<!ob )(?<!dass )\bich bin (?:nur |bloß |doch |eigentlich )*(?:eine? )?(?:ki|künstliche intelligenz|"
            r"sprachmodell|ki-(?:assistent(?:in)?|modell|sprachmodell|system)|chatbot)\b(?!-)",
            r"\bich habe keine (?:persönlichen |eigenen |menschlichen )(?:gefühle|emotionen|vorlieben|erfahrungen|hobbys)",
        ),
        "es": (
            r"\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|asistente virtual|chatbot)\b",
            r"(?<!si )(?<!que )\b(?:yo )?soy (?:solo |sólo )?(?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|"
            r"asistente virtual|chatbot)\b",
            r"\bno tengo (?:sentimientos|emociones|preferencias|experiencias) personales\b",
        ),
        "fr": (
            r"\ben tant qu(?:e |')(?:une? )?(?:ia|intelligence artificielle|modèle de langage|assistante? virtuelle?|chatbot)\b",
            r"(?<!si )(?<!que )\bje (?:ne )?suis (?:qu'|juste |seulement )?(?:une? )?(?:ia|intelligence artificielle|"
            r"modèle de langage|assistante? virtuelle?|chatbot)\b",
            r"\bje n'ai pas d(?:e |')(?:sentiments|émotions|préférences|expériences) personnel",
        ),
        "ja": (
            r"(?:ai|人工知能|言語モデル|aiアシスタント|チャットボット)(?:である私|ですので|なので|として(?:は|の私)?)",
            r"私は(?:ただの|単なる)?(?:ai|人工知能|(?:大規模)?言語モデル|aiアシスタント|チャットボット)(?:です|だ|である|なので|であり)",
            r"私には(?:個人的な)?(?:感情|気持ち)(?:は|が)(?:ありません|ない)",
        ),
        "ko": (
            r"(?:저는|나는|전|난) (?:단지 |그저 )?(?:ai|인공지능|인공 지능|언어 모델|언어모델|챗봇)(?: (?:비서|언어 모델|챗봇|모델|어시스턴트))?"
            r"(?:입니다|이에요|예요|이다|이라|라서|이므로)",
            r"(?:ai|인공지능|인공 지능|언어 모델|언어모델|챗봇)(?:으)?로서",
        ),
        "ru": (
            r"\bкак (?:искусственный интеллект|ии|языковая модель|чат-бот|виртуальный (?:помощник|ассистент))\b(?=[ ,.]*(?:я\b|у меня|,))",
            r"(?<!если )(?<!что )\bя (?:всего лишь |просто |лишь )?[—–-]? ?(?:искусственный интеллект|ии|языковая модель|чат-бот|"
            r"виртуальный (?:помощник|ассистент))\b",
            r"\bу меня нет (?:личных |собственных )(?:чувств|эмоций|предпочтений)",
        ),
    }
)
"""Language code -> patterns, over text in lower case with plain apostrophes."""
_COMPILED = {language: re.compile("|".join(patterns)) for language, patterns in PHRASES.items()}


def knows(language: str) -> bool:
    """Returns whether there are phrases in a language."""
    return language in _COMPILED


def phrase_of(text: str, language: str) -> str:
    """Returns the words by which a speaker says of itself that it is an AI, in lower case; empty where it does not.

    Args:
        text: the utterance.
        language: one that `knows` knows.
    """
    plain = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).lower().replace("’", "'"))
    found = _COMPILED[language].search(plain)
    return found[0].strip() if found else ""

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
_I_AM, _I_WAS = r"\bi(?:'m| am)", r"\bi(?:'m| am| was|'ve been| have been)"
_DONT_HAVE = r"\bi (?:do not|don't|cannot|can't) (?:actually |really |truly )?(?:have|possess|experience) (?:a |any )?"
_NAMES = r"(?:chatgpt|claude|bard|gemini|gpt-?[\d.]+|vicuna|chatglm|internlm|qwen)"
_MAKERS = r"(?:openai|anthropic|google|meta|microsoft|lmsys|alibaba|baidu|tsinghua)"
_ENGLISH = (
    rf"\b(?:as|being) an? {_MACHINE}{_ENDS}",
    rf"{_NOT_SAID}{_I_AM}(?: (?:just|only|actually|simply|really|still|but|also))* an? {_MACHINE}{_ENDS}",
    rf"{_NOT_SAID}\bwe(?:'re| are)(?: both)?(?: (?:just|only))* (?:ais?|language models|chat ?bots){_ENDS}",
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
    return found[0].strip(" .,;:") if found else ""

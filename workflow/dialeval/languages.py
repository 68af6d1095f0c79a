"""Languages of dialogues: their order in tables and figures, their names in prompts, NLLB's codes and scripts.

The first ten are xDial-Eval's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from dialeval.errors import UserError, nearest

PAPER_ORDER = ("en", "zh", "es", "de", "fr", "ja", "ko", "hi", "ar", "ru")
"""The ten languages of xDial-Eval in the order of its tables and figures."""
AVERAGE = "average"
"""The name of the mean over languages in tables."""
_PLACES = {language: place for place, language in enumerate(PAPER_ORDER)}


def language_place(language: str) -> tuple[bool, int, str]:
    """Return the sort key of a language: the paper's place, for others their code; their average comes last."""
    return language == AVERAGE, _PLACES.get(language, len(PAPER_ORDER)), language


def language_order(names: Iterable[str]) -> list[str]:
    """Return the distinct languages: English, the others of xDial-Eval in its order, others by code, their average."""
    return sorted(set(names), key=language_place)


# Languages of translation

_LATIN = "A-Za-zÀ-ɏḀ-ỿ"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "ぁ-ゖゝ-ゟァ-ヺヽ-ヿｦ-ﾝ"
_SHARE, _SOME_KANA, _LONG_WITHOUT_KANA = 0.3, 0.1, 7


class Language(NamedTuple):
    """A language.

    Attributes:
        name: in English.
        nllb: its code for NLLB, after FLORES-200.
        letters: its letters, as the inside of a character class.
    """

    name: str
    nllb: str
    letters: str = _LATIN

    def share(self, text: str) -> float:
        """Return the share of a text's letters that are this language's; 1 for a text without letters."""
        letters = [letter for letter in text if letter.isalpha()]
        own = re.findall(f"[{self.letters}]", text)
        return min(1.0, len(own) / len(letters)) if letters else 1.0

    def may_be_in(self, text: str) -> bool:
        """Return whether the letters of a text may be this language's; kana distinguish Japanese from Chinese."""
        if self.share(text) < _SHARE:
            return False
        n_han, n_kana = (len(re.findall(f"[{some}]", text)) for some in (_HAN, _KANA))
        if self.nllb.startswith("zho"):
            return n_kana <= _SOME_KANA * (n_han + n_kana)
        return self.nllb != "jpn_Jpan" or n_kana > 0 or n_han <= _LONG_WITHOUT_KANA


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "en": Language("English", "eng_Latn"),
        "zh": Language("Chinese", "zho_Hans", _HAN),
        "es": Language("Spanish", "spa_Latn"),
        "de": Language("German", "deu_Latn"),
        "fr": Language("French", "fra_Latn"),
        "ja": Language("Japanese", "jpn_Jpan", _HAN + "ぁ-ゟ゠-ヿｦ-ﾟ々"),
        "ko": Language("Korean", "kor_Hang", "가-힣ᄀ-ᇿ㄰-㆏"),
        "hi": Language("Hindi", "hin_Deva", "ऀ-ॿ"),
        "ar": Language("Arabic", "arb_Arab", "؀-ۿݐ-ݿࢠ-ࣿﭐ-﷿ﹰ-﻿"),
        "ru": Language("Russian", "rus_Cyrl", "Ѐ-ԯ"),
        "bg": Language("Bulgarian", "bul_Cyrl", "Ѐ-ԯ"),
        "bn": Language("Bengali", "ben_Beng", "ঀ-৿"),
        "cs": Language("Czech", "ces_Latn"),
        "da": Language("Danish", "dan_Latn"),
        "el": Language("Greek", "ell_Grek", "Ͱ-Ͽἀ-῿"),
        "et": Language("Estonian", "est_Latn"),
        "fa": Language("Persian", "pes_Arab", "؀-ۿݐ-ݿﭐ-﷿ﹰ-﻿"),
        "fi": Language("Finnish", "fin_Latn"),
        "he": Language("Hebrew", "heb_Hebr", "֐-׿"),
        "hu": Language("Hungarian", "hun_Latn"),
        "id": Language("Indonesian", "ind_Latn"),
        "it": Language("Italian", "ita_Latn"),
        "lt": Language("Lithuanian", "lit_Latn"),
        "lv": Language("Latvian", "lvs_Latn"),
        "ms": Language("Malay", "zsm_Latn"),
        "nb": Language("Norwegian Bokmål", "nob_Latn"),
        "nl": Language("Dutch", "nld_Latn"),
        "pl": Language("Polish", "pol_Latn"),
        "pt": Language("Portuguese", "por_Latn"),
        "ro": Language("Romanian", "ron_Latn"),
        "sk": Language("Slovak", "slk_Latn"),
        "sl": Language("Slovenian", "slv_Latn"),
        "sr": Language("Serbian", "srp_Cyrl", "Ѐ-ԯ"),
        "sv": Language("Swedish", "swe_Latn"),
        "sw": Language("Swahili", "swh_Latn"),
        "ta": Language("Tamil", "tam_Taml", "஀-௿"),
        "te": Language("Telugu", "tel_Telu", "ఀ-౿"),
        "th": Language("Thai", "tha_Thai", "฀-๿"),
        "tr": Language("Turkish", "tur_Latn"),
        "uk": Language("Ukrainian", "ukr_Cyrl", "Ѐ-ԯ"),
        "ur": Language("Urdu", "urd_Arab", "؀-ۿݐ-ݿﭐ-﷿ﹰ-﻿"),
        "vi": Language("Vietnamese", "vie_Latn"),
        "zh-TW": Language("Traditional Chinese", "zho_Hant", _HAN),
    }
)


def language(code: str) -> Language:
    """Return a language by its code.

    Raises:
        UserError: it has no name here.
    """
    if code not in LANGUAGES:
        raise UserError(f"language '{code}' is not supported for translation; {nearest(code, LANGUAGES)}")
    return LANGUAGES[code]

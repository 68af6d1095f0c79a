"""Short words that hardly a sentence does without, by language: what a text that nobody translated is told by.

Languages of the same letters cannot be told apart by these. The lists are short on purpose: a name such as "The Who"
must not make an utterance English.
"""

from __future__ import annotations

from collections.abc import Sequence

COMMON = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the you is are was were what that this with have has had do does did don't my your i i'm i'll "
        "i've it it's and of to for not they he she we can can't would will could should how when where "
        "why who which there their about from but be been them these those me us our any some know like "
        "just so too very a am as at in me on no yes if or up out then all more than get got go good",
        "es": "el la los las que de y en un una es por con para no se lo te mi tu su pero más muy está estoy "
        "como cómo qué yo me ha he si sí del al son eso esto ese era fue nos les tengo tiene usted "
        "gracias también a o ni sin hay muchas bien",
        "de": "der die das und ich ist nicht du ein eine einen zu mit auf für es wir sie den dem was wie aber "
        "mein dein habe hat haben bin sind auch von im ja mir mich dich dir so kann kannst wenn er ihr "
        "noch dass war",
        "fr": "le la les des et je tu il elle est pas un une que qui dans pour avec vous nous mon ton ma ta ce "
        "c'est de du au sur mais ne j'ai en ça cette suis es as ai oui non moi toi se y a qu'il l'ai d'un "
        "d'une",
        "it": "il la che di e è non un una per con sono mi ti lo gli le ma come del della ho hai ha anche "
        "questo in a si cosa sei io tu mio tuo perché molto bene",
        "pt": "o a os as que de e é não um uma para com eu você ele ela mas se por em do da no na está estou "
        "muito meu minha seu isso como sim também te me foi tem tenho",
        "nl": "de het een en ik je is niet dat van met op voor zijn we ze wat maar mijn heb hebt heeft ook er "
        "aan te naar in dit die hoe nog bent ben kan kun jij",
        "sv": "jag du är inte och det att en ett på som för med har kan vi han hon men av till mig dig den om "
        "vad så var ska min din",
    }.items()
}
_IN_NAMES = frozenset(
    (
        "the",
        "of",
        "and",
        "to",
        "for",
        "with",
        "from",
        "in",
        "a",
        "up",
        "out",
        "on",
        "at",
        "all",
        "go",
        "no",
        "who",
        "de",
        "la",
        "der",
        "le",
        "les",
        "el",
    )
)
_FEW, _SHARE = 2, 0.25


def telling_words(words: Sequence[str], language: str) -> list[str]:
    """Returns those of some words, in lower case, that only a text in a language has, and no name."""
    return [word for word in words if word in COMMON.get(language, ()) and word not in _IN_NAMES]


def reads_as_another(words: Sequence[str], language: str, source: str | None) -> str | None:
    """Returns the language that a text is in instead of the one that it should be in, as far as common words tell.

    Args:
        words: of the text, in lower case.
        language: that it should be in.
        source: that it was translated from.
    """
    own = COMMON.get(language, frozenset())
    others = COMMON if own else {source: COMMON[source]} if source in COMMON else {}
    for other, common in others.items():
        hits = [word for word in words if word in common and word not in own]
        fits = sum(word in own and word not in common for word in words)
        if other != language and len(set(hits)) >= _FEW and len(hits) >= max(_SHARE * len(words), 3 * fits + 1):
            return other
    return None

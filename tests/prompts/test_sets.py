"""The papers' set of prompts: where a template is found, what changes with the set, and that answers are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_dialogues import shipped_question

from dialeval.config import Config
from dialeval.corpora.items import Item
from dialeval.criteria import SHIPPED, Criterion, Scale, Words
from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.tasks import ABBREVIATIONS
from dialeval.dialogbench.writing import prompt
from dialeval.prompts.rendering import OURS, Templates, template_folders, uses_paper_prompts
from dialeval.protocols import scores
from dialeval.protocols.forms import unfit_template
from dialeval.protocols.verdicts import read_verdict
from dialeval.protocols.written_scores import parse_scores
from dialeval.provenance.fingerprints import fingerprint
from dialeval.stages import stage_function

PAPERS = Templates(prompt_set="papers")
TURN = Item("c", "t", "en", "turn", "c", ("human", "chatbot"), ("Any plans?", "A swim, if it stays dry."))
DIALOGUE = Item("c", "d", "en", "dialogue", "c", ("human", "chatbot"), ("Any plans?", "A swim, if it stays dry."))
AMONG_PEOPLE = Item("c", "p", "en", "dialogue", "c", ("A", "B"), ("Any plans?", "A swim, if it stays dry."))
ARENA = {"conversation 1": "left", "conversation 2": "right", "both": "both", "neither": "neither"}


def asked(item: Item, templates: Templates) -> dict[str, str]:
    """Return the prompts that put an item to judges, by protocol and criterion."""
    rated = {"rating": next(scores.plan_scale(shipped_question("rating"), [item], templates)).request}
    questions = {
        one.part or "": one.request for one in scores.plan_probability(shipped_question("yes_no"), [item], templates)
    }
    return {name: request.messages[0].content for name, request in {**rated, **questions}.items()}


def test_a_users_template_comes_before_the_sets_and_the_sets_before_ours(tmp_path: Path) -> None:
    (tmp_path / "arena.j2").write_text("Mine.", encoding="utf-8")
    both = Templates(tmp_path, "papers")
    assert both.render("arena.j2") == "Mine."
    assert both.render("selfchat.j2") == PAPERS.render("selfchat.j2") != Templates().render("selfchat.j2")
    end = "[END]"
    about = {"persona": "p", "goal": "g", "end": end, "opens": False}
    assert both.render("partner.j2", **about) == Templates().render("partner.j2", **about)
    assert template_folders() == [OURS]


def test_only_prompts_that_differ_from_the_papers_change_the_fingerprint() -> None:
    def changes(stage: str, *templates: str) -> bool:
        module = stage_function(stage)
        return fingerprint(module, templates=templates) != fingerprint(module, templates=templates, prompt_set="papers")

    assert changes("selfchat")
    assert changes("plan_locate", "unieval.j2")
    assert changes("plan_pair", "arena.j2")
    assert changes("plan_scale")
    assert changes("plan_probability")
    assert changes("dialogbench_write")
    assert changes("plan_adequacy")
    for stage in ("dialogbench_plan", "dialogbench_classify", "plan_translation", "measure_ratings", "correlate"):
        assert not changes(stage), stage


@pytest.mark.parametrize("name", ["unieval", "arena", "gteval"])
def test_the_papers_templates_ask_what_their_protocols_are_about(name: str) -> None:
    assert list(unfit_template(shipped_question(name), PAPERS)) == []


@pytest.mark.parametrize("template", ["arena.j2", "gteval.j2"])
def test_the_lines_that_a_comparison_requests_are_parsed(template: str) -> None:
    text = PAPERS.render(template, first=("Hi.", "Hello."), second=("Hi.", "Hey."))
    lines = [line.removesuffix(" or").strip('"') for line in text.splitlines() if line.startswith('"Choice:')]
    found = [read_verdict(line, ARENA) for line in lines]
    assert [one.choice for one in found] == ["left", "right", "both", "neither"]
    assert {one.reason for one in found} == {"your reason"}


def test_the_form_that_unieval_requests_is_parsed() -> None:
    text = PAPERS.render("unieval.j2", utterances=("Hi.", "Hello."), speakers=("A", "B"))
    form = text[text.index("Use this format:\n") :].split("\n", 1)[1]
    people, model = form.split("\n\n")[0].split("\nor\n")
    assert read_verdict(people, {"yes": "yes", "no": "no"}).choice == "no"
    assert read_verdict(model.replace("n\n", "2\n"), {"yes": "yes", "no": "no"}).indices == ("2",)


@pytest.mark.parametrize("item", [TURN, DIALOGUE])
def test_ratings_name_the_papers_dimensions_and_no_more(item: Item) -> None:
    text = asked(item, PAPERS)["rating"]
    criteria = [one for one in SHIPPED.values() if one.is_at(item.level)]
    assert "from 1 to 5" in text
    assert not any(meaning in text for one in criteria for meaning in one.words.meaning.values())
    form = text.split("### Output Format:\n")[1].split("\n\n")[0].replace("- x", "- 4")
    assert {name: said.value for name, said in parse_scores(form, criteria).items()} == {
        one.name: 4.0 for one in criteria
    }


def test_questions_concern_the_chatbot_where_there_is_one() -> None:
    assert "a human with a chatbot" in asked(DIALOGUE, PAPERS)["informativeness"]
    assert "the chatbot's responses" in asked(DIALOGUE, PAPERS)["informativeness"]
    assert "chatbot" not in asked(AMONG_PEOPLE, PAPERS)["informativeness"]
    for item in (TURN, DIALOGUE):
        ours, papers = asked(item, Templates()), asked(item, PAPERS)
        assert all(ours[name] != papers[name] for name in ours)
        assert len(set(papers.values())) == len(papers)


def test_the_users_criterion_is_in_the_prompt_in_its_own_words() -> None:
    words = Words({"dialogue": "Are they kind?"}, {"dialogue": "how kind they are"}, rubric={"7": "very kind"})
    kind = Criterion("kindness", "dialogue", words, Scale(1.0, 7.0))
    (rating,) = scores.plan_scale(shipped_question("rating"), [DIALOGUE], PAPERS, lambda _: [[kind]])
    rated = rating.request.messages[0].content
    assert "scale from 1 to 7" in rated
    assert "kindness: how kind they are\n  7: very kind" in rated
    (question,) = scores.plan_probability(shipped_question("yes_no"), [DIALOGUE], PAPERS, lambda _: [kind])
    assert "Question: Are they kind?" in question.request.messages[0].content


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("styles", [True, False])
def test_the_writer_chooses_personalities_and_gets_the_rules(language: str, styles: bool) -> None:
    for brief in plan_briefs(ABBREVIATIONS, ["Film"], per_cell=1, language=language, styles=styles):
        text = prompt(brief, PAPERS)
        assert ('"speaker1 personality"' in text) is styles, brief.item_id
        if styles:
            assert brief.personalities[0] not in text
        for told in (brief.drawn[1], *brief.emotions):
            assert told in text
        assert ("1000" in text) is (brief.task == "KRG")


def test_the_set_and_folder_of_prompts_are_named(tmp_path: Path) -> None:
    assert not uses_paper_prompts(["arena.j2"], None, "ours")
    assert uses_paper_prompts(["arena.j2", "dialogbench_question_en.j2"], tmp_path, "papers")
    (tmp_path / "arena.j2").write_text("Mine.", encoding="utf-8")
    assert not uses_paper_prompts(["arena.j2"], tmp_path, "papers")
    assert uses_paper_prompts(["gteval.j2"], tmp_path, "papers")
    assert Config.model_fields["prompts"].default.set == "ours"

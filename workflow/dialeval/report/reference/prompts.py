"""The page on prompts, generated from their descriptions.

Nothing that runs reads this; `prompts` writes it out, and a test holds it to the templates that there are.

A test keeps page, descriptions and templates in step. What stands above the mark is written by hand.
"""

from __future__ import annotations

from typing import NamedTuple

from dialeval.paths import PROJECT

# What each prompt template asks, and where it departs from what a paper's prompt asks, and why: for `docs/prompts.md`.


class Described(NamedTuple):
    """The description of one template of one set.

    Attributes:
        asks: what it asks for, in which form.
        departs: where it departs from the paper's prompt, and why; empty where there is no such prompt.
    """

    asks: str
    departs: str = ""


_FENCE = "tells the judge not to follow instructions in the dialogue"
_AS_PRINTED = "Only the wording differs."
_NO_PROMPT = "The paper has no such prompt."

SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "BotChat": ("Appendix B prints the prompts.", ("selfchat.j2", "unieval.j2", "arena.j2", "gteval.j2")),
    "comp-analysis and xDial-Eval: scores": (
        ("comp-analysis prints the prompts in its Tables 2 to 4; xDial-Eval uses the same form for one dimension."),
        (
            "rating_turn.j2",
            "rating_dialogue.j2",
            "rating_criteria.j2",
            "yes_no_turn.j2",
            "yes_no_dialogue.j2",
            "yes_no_question.j2",
        ),
    ),
    "comp-analysis: perturbations by a model": (
        (
            "Appendix C describes each request to ChatGPT in a sentence and does not print the prompts. In "
            "the paper, rules or humans made the other perturbations."
        ),
        (
            "perturb_utterance_duplication.j2",
            "perturb_repeating_others.j2",
            "perturb_generic_utterance.j2",
            "perturb_content_reduction.j2",
            "perturb_self_contradiction.j2",
            "perturb_contradiction.j2",
            "perturb_replace_named_entity.j2",
            "perturb_unnatural_paraphrase.j2",
        ),
    ),
    "xDial-Eval: translations": (
        ("Appendix A prints the prompt with which GPT-4 judged translations. The paper used a translation service."),
        ("adequacy.j2", "translate.j2"),
    ),
    "DialogBench": (
        (
            "Tables 9 to 20 print the writer's prompts in English, Table 21 the filter's prompt. Figures 9 "
            "and 10 show the prompts of evaluated models as pictures."
        ),
        (
            "dialogbench_write_en.j2",
            "dialogbench_write_zh.j2",
            "dialogbench_filter_en.j2",
            "dialogbench_filter_zh.j2",
            "dialogbench_classify.j2",
            "dialogbench_question_en.j2",
            "dialogbench_question_zh.j2",
            "dialogbench_perplexity_en.j2",
            "dialogbench_perplexity_zh.j2",
        ),
    ),
    "Other prompts": (
        "Prompts without a counterpart in the papers. Both sets use the same templates.",
        (
            "pair.j2",
            "locate.j2",
            "annotate.j2",
            "retry_unparsed.j2",
            "structured_answer.j2",
            "partner.j2",
            "complete.j2",
        ),
    ),
}
"""Heading -> description of the prompts below it, and the templates in their order."""

OURS: dict[str, Described] = {
    "selfchat.j2": Described(
        (
            "The next utterance, as a person who chats by text: short turns under 60 words, changes of "
            "subject allowed, like a human."
        ),
        (
            "Forbids the failures that the paper counts (lists, lectures, unrequested help, repetition), and "
            "names before utterances."
        ),
    ),
    "unieval.j2": Described(
        ("Whether an AI took part in a conversation: choice, number of the first AI utterance, reason. Four examples."),
        f"Adds formal and assistant-like language to the signs, gives the number of utterances, and {_FENCE}. "
        "The paper's examples are not printed.",
    ),
    "arena.j2": Described(
        ("In which of two conversations an AI took part: the first, the second, both or neither, and the reason."),
        f"One field per line instead of semicolons; {_FENCE}.",
    ),
    "gteval.j2": Described(
        "As for Arena, but exactly one conversation has AI utterances.",
        f"Explains the choices; {_FENCE}.",
    ),
    "rating_turn.j2": Described(
        "Scores for a response in its context, one line per criterion.",
        f"Tells the judge if the context is empty; {_FENCE}.",
    ),
    "rating_dialogue.j2": Described("Scores for a dialogue, one line per criterion.", f"{_FENCE.capitalize()}."),
    "rating_criteria.j2": Described(
        "The criteria with their definitions, the scale with labelled ends, and the response format.",
        "The paper names dimensions and scale without definitions.",
    ),
    "yes_no_turn.j2": Described("A question about a response in its context, Yes or No.", f"{_FENCE.capitalize()}."),
    "yes_no_dialogue.j2": Described(
        "A question about a whole dialogue, Yes or No.",
        f"Does not state that a human talks with a chatbot; {_FENCE}.",
    ),
    "yes_no_question.j2": Described(
        "The criterion's question with a one-word answer, or the points of a scale.",
        (
            "Uses plain words instead of specificity, understandability, coherence, diversity and overall. Requests "
            "one word, so that chat models do not start a sentence."
        ),
    ),
    "perturb_utterance_duplication.j2": Described(
        "The chatbot's utterances, each with some of its own words repeated at the end.",
        "Gives a minimum number of words and forbids other changes, so that the result can be checked.",
    ),
    "perturb_repeating_others.j2": Described(
        "The chatbot's utterances with a part of the other speaker's previous utterance.",
        "Gives a minimum length of the part, so that the result can be checked.",
    ),
    "perturb_generic_utterance.j2": Described(
        "The chatbot's utterances as generic phrases.", "Defines generic: no fact, no opinion, nothing personal."
    ),
    "perturb_content_reduction.j2": Described(
        "The chatbot's utterances with less information.",
        (
            "Requests shorter utterances without details, reasons, examples and names, so that the result can "
            "be checked."
        ),
    ),
    "perturb_self_contradiction.j2": Described(
        "One or two utterances that contradict an earlier statement of the speaker.",
        "In the paper, humans wrote these utterances (DECODE).",
    ),
    "perturb_contradiction.j2": Described(
        "The response, changed so that it contradicts the conversation.",
        "In the paper, rules made these perturbations.",
    ),
    "perturb_replace_named_entity.j2": Described(
        "The response with other named entities.", "In the paper, rules made these perturbations."
    ),
    "perturb_unnatural_paraphrase.j2": Described(
        "The response with unusual words.", "In the paper, rules made these perturbations with WordNet."
    ),
    "adequacy.j2": Described(
        "How much of an utterance's meaning its translation preserves, from 1 to 5.",
        f"Defines 1, 3 and 5, excludes style, and {_FENCE}.",
    ),
    "translate.j2": Described("A translation of numbered utterances of a dialogue.", _NO_PROMPT),
    "dialogbench_write_en.j2": Described(
        (
            "A conversation of ten turns in a given domain, a question about it, options, analysis and correct "
            "option, as JSON."
        ),
        (
            "Gives randomly drawn personalities, slot and speaker. Requests several paragraphs of knowledge "
            "instead of 1000 words. The requirements are the paper's, in a shorter list."
        ),
    ),
    "dialogbench_write_zh.j2": Described(
        "As the English template, in Chinese.", "The paper's Chinese prompts are not printed."
    ),
    "dialogbench_filter_en.j2": Described(
        "Whether an item and its answer are correct: correct or incorrect.",
        f"Puts the two questions in one sentence; {_FENCE}.",
    ),
    "dialogbench_filter_zh.j2": Described(
        "As the English template, in Chinese.", "The paper's Chinese prompt is not printed."
    ),
    "dialogbench_classify.j2": Described(
        "The style of each speaker and the domain, for Figures 5 and 6.",
        "In the paper, GPT-4 classified both; the prompt is not printed.",
    ),
    "dialogbench_question_en.j2": Described(
        ("The letter of the right option. The dialogue is the model's chat with the user, or a text in one message."),
        "The paper's prompt is a picture. Content and order follow its section 4.",
    ),
    "dialogbench_question_zh.j2": Described("As the English template, in Chinese.", "As in English."),
    "dialogbench_perplexity_en.j2": Described(
        "Dialogue and question; then the likelihood of each option is computed.",
        "The paper's prompt is a picture. Content and order follow its section 4.",
    ),
    "dialogbench_perplexity_zh.j2": Described("As the English template, in Chinese.", "As in English."),
    "pair.j2": Described("Which of two dialogues is better, as a whole or on a criterion."),
    "locate.j2": Described("Whether a criterion shows in a dialogue, and in which utterance first."),
    "annotate.j2": Described(
        "Which criteria show in a dialogue, such as BotChat's five kinds of failure, and in which "
        "utterances. In the paper, humans classified the failures."
    ),
    "retry_unparsed.j2": Described("The same response again, in the required form."),
    "structured_answer.j2": Described("The response as JSON; added to another prompt."),
    "partner.j2": Described("The next message of a simulated user with a persona and a goal."),
    "complete.j2": Described("The continuation of a published text, word for word (`memorization`)."),
}
"""Every template of ours."""

PAPERS: dict[str, Described] = {
    "selfchat.j2": Described(
        (
            "The next utterance, as an AI that should pass the Turing test: at least five rounds, natural "
            "flow and changes of subject, fewer than 60 words per round, not like an assistant."
        ),
        _AS_PRINTED,
    ),
    "unieval.j2": Described(
        (
            "Choice, index and reason, with the paper's four signs of an AI. Four examples: one human dialogue, and "
            "three dialogues with signs."
        ),
        "The examples are ours, since the paper does not print its own.",
    ),
    "arena.j2": Described("One of four choices and the reason, in one line.", _AS_PRINTED),
    "gteval.j2": Described(
        "As for Arena, but only one conversation has AI utterances.",
        "The paper names this as the only difference from Arena's prompt and does not print it.",
    ),
    "rating_turn.j2": Described("Context, response, and the instruction of Table 2 (b).", _AS_PRINTED),
    "rating_dialogue.j2": Described("Dialogue, and the instruction of Table 2 (a).", _AS_PRINTED),
    "rating_criteria.j2": Described(
        "The names of the dimensions, the scale from 1 to 5, and the lines of the response.",
        "Your own criteria are defined as in `ours`.",
    ),
    "yes_no_turn.j2": Described("Context, response, and a question as in Table 3 (b).", _AS_PRINTED),
    "yes_no_dialogue.j2": Described(
        "The dialogue of a human with a chatbot, and a question as in Table 3 (a).",
        "Names human and chatbot only if the dialogue has a chatbot. The paper writes [H] and [C].",
    ),
    "yes_no_question.j2": Described(
        "Table 4's question about the dimension, without a response format.",
        (
            "Your own criteria have their own questions and points. Chat models that start a sentence give "
            "Yes and No little probability (`low_mass`). xDial-Eval's Tables 9 to 14 show each model's "
            "template as a picture: DialEval uses the model's chat template."
        ),
    ),
    "perturb_utterance_duplication.j2": Described(
        "The chatbot's utterances, each with a part of it repeated at the end.", "The response format is ours."
    ),
    "perturb_repeating_others.j2": Described(
        "The chatbot's utterances with parts of the other speaker's utterances.", "The response format is ours."
    ),
    "perturb_generic_utterance.j2": Described(
        "The chatbot's utterances as generic responses.", "The response format is ours."
    ),
    "perturb_content_reduction.j2": Described(
        "The chatbot's utterances simplified, with little information.", "The response format is ours."
    ),
    "adequacy.j2": Described("Adequacy, defined as in the paper, from 1 to 5, in the form `adequacy: x`.", _AS_PRINTED),
    "dialogbench_write_en.j2": Described(
        (
            "For a task: a dialogue of ten turns in a domain, with personalities that the writer chooses "
            "(sometimes unfriendly), a difficult question, options, analysis and correct option, in the paper's JSON; "
            "for KRG, knowledge of more than 1000 words."
        ),
        (
            "Gives the slot (SF) and the emotions (ED), which the paper leaves to the writer, so that all are "
            "equally frequent and the answer can be checked. Without domain and personalities it is the "
            "paper's basic prompt."
        ),
    ),
    "dialogbench_write_zh.j2": Described(
        "As the English template, in Chinese.", "The paper's Chinese prompts are not printed; this is our translation."
    ),
    "dialogbench_filter_en.j2": Described(
        "Whether question and answer are correct: correct or incorrect, without analysis.", _AS_PRINTED
    ),
    "dialogbench_filter_zh.j2": Described(
        "As the English template, in Chinese.", "The paper's Chinese prompt is not printed."
    ),
}
"""Every template of the papers' set; where it has none, ours is used."""


# The page on prompts, `docs/prompts.md`, generated from their descriptions.

DOCS = PROJECT / "docs" / "prompts.md"
MARK = "## Reference\n"
HEAD = """
This part is generated from `workflow/dialeval/report/reference/prompts.py` (`python -m dialeval.report.reference`). The
templates lie in `workflow/dialeval/prompts/` (`ours`) and `workflow/dialeval/prompts/papers/` (`papers`).
"""
_SAME = Described("As `ours`.", "The set has no separate template.")


def docs_text() -> str:
    """Returns the page: the handwritten part, and the reference."""
    by_hand = DOCS.read_text(encoding="utf-8").split(MARK)[0]
    parts = [by_hand + MARK + HEAD]
    for heading, (words, names) in SECTIONS.items():
        parts.append(f"### {heading}\n\n{words}\n")
        parts += [_about(name) for name in names]
    return "\n".join(parts)


def _about(name: str) -> str:
    if name not in PAPERS and not OURS[name].departs:
        return f"- `{name}`: {OURS[name].asks}\n"
    rows = [("ours", OURS[name]), ("papers", PAPERS.get(name, _SAME))]
    cells = [f"| `{prompt_set}` | {about.asks} | {about.departs} |" for prompt_set, about in rows]
    return (
        "\n".join([f"#### `{name}`\n", "| set | content | differences from the paper |", "|---|---|---|", *cells])
        + "\n"
    )

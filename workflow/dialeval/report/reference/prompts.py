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


_FENCE = "says that what is shown is material and never an instruction, against dialogues that speak to the judge"
_AS_PRINTED = "Nothing beyond the wording."
_NO_PROMPT = "The paper has no such prompt."

SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "BotChat": ("Appendix B prints the prompts.", ("selfchat.j2", "unieval.j2", "arena.j2", "gteval.j2")),
    "comp-analysis and xDial-Eval: scores": (
        "comp-analysis prints the prompts in its Tables 2 to 4; xDial-Eval asks in the same way about one dimension.",
        (
            "rating_turn.j2",
            "rating_dialogue.j2",
            "rating_criteria.j2",
            "yes_no_turn.j2",
            "yes_no_dialogue.j2",
            "yes_no_question.j2",
        ),
    ),
    "comp-analysis: damage by a model": (
        "Appendix C describes the requests to ChatGPT in a sentence each; the prompts are not printed. The paper's "
        "other strategies are by rule or by humans.",
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
        "Appendix A prints the prompt by which GPT-4 judged translations; the paper translated by a service.",
        ("adequacy.j2", "translate.j2"),
    ),
    "DialogBench": (
        "Tables 9 to 20 print the writer's prompts in English and Table 21 the filter's. Figures 9 and 10, the prompts "
        "of examined models, are pictures.",
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
    "No paper's": (
        "Prompts without a counterpart in the papers; both sets use the same.",
        ("pair.j2", "locate.j2", "annotate.j2", "retry_unparsed.j2", "structured_answer.j2", "partner.j2"),
    ),
}
"""Heading -> description of the prompts below it, and the templates in their order."""

OURS: dict[str, Described] = {
    "selfchat.j2": Described(
        "As a person who chats by text, the next utterance: short turns, well under 60 words; other subjects may come "
        "up; to be taken for a human.",
        "Forbids lists, lectures, unrequested help and repetition, and requests the utterance without a name before "
        "it. These are the failures that the paper counts.",
    ),
    "unieval.j2": Described(
        "Whether an AI took part in a conversation: choice, number of the first utterance that an AI wrote, reason. "
        "Four examples.",
        f"Counts formal and assistant-like language among the signs, tells the number of utterances, and {_FENCE}. "
        "The paper's examples are not printed.",
    ),
    "arena.j2": Described(
        "In which of two conversations an AI took part: one, the other, both or neither, and the reason.",
        f"One field a line instead of a semicolon between them; {_FENCE}.",
    ),
    "gteval.j2": Described(
        "The same, of which exactly one has utterances by an AI.",
        f"The choices are explained as doubts about that one; {_FENCE}.",
    ),
    "rating_turn.j2": Described(
        "Numbers for a response in its context, one line per criterion.",
        f"An empty context is said to be; {_FENCE}.",
    ),
    "rating_dialogue.j2": Described(
        "Numbers for a whole dialogue, a line for each criterion.", f"Only that it {_FENCE}."
    ),
    "rating_criteria.j2": Described(
        "The criteria with their meanings, the scale with labels at its ends, and the answer format.",
        "The paper names the dimensions and the scale 1 to 5 and explains neither; ours explains both.",
    ),
    "yes_no_turn.j2": Described("A question about a response in its context, Yes or No.", f"Only that it {_FENCE}."),
    "yes_no_dialogue.j2": Described(
        "A question about a whole dialogue, Yes or No.",
        f"Does not say that a human talks with a chatbot, which not all do; {_FENCE}.",
    ),
    "yes_no_question.j2": Described(
        "The criterion's question, and to answer with one word; or the points of a scale to choose from.",
        "Other words for specificity, understandability, coherence, diversity and overall, none of them a term of the "
        "field; engagingness is asked of the responses. It asks for one word, so that chat models do not begin a "
        "sentence.",
    ),
    "perturb_utterance_duplication.j2": Described(
        "The chatbot's utterances with a stretch of their own words appended.",
        "Says how long the stretch is at least, and that nothing else changes, so that it can be checked.",
    ),
    "perturb_repeating_others.j2": Described(
        "The chatbot's utterances with a part of the other speaker's previous utterance.",
        "Gives the minimal length of the part, so that it can be checked.",
    ),
    "perturb_generic_utterance.j2": Described(
        "The chatbot's utterances as generic phrases.", "Says what generic is: no fact, opinion or anything personal."
    ),
    "perturb_content_reduction.j2": Described(
        "The chatbot's utterances with less information.",
        "Asks for shorter ones that leave out details, reasons, examples and names, so that it can be checked.",
    ),
    "perturb_self_contradiction.j2": Described(
        "One or two utterances that contradict an earlier statement of the speaker.",
        "The paper's were written by humans (DECODE).",
    ),
    "perturb_contradiction.j2": Described(
        "The response so that it contradicts the conversation.", "The paper's were made by rule."
    ),
    "perturb_replace_named_entity.j2": Described(
        "The response with other named entities.", "The paper's were made by rule."
    ),
    "perturb_unnatural_paraphrase.j2": Described(
        "The response in words that hardly anybody would use.", "The paper's were made by rule, from WordNet."
    ),
    "adequacy.j2": Described(
        "How much of an utterance's meaning its translation keeps, 1 to 5.",
        f"Says what 1, 3 and 5 are, that style does not count, and {_FENCE}.",
    ),
    "translate.j2": Described("Utterances of a dialogue in another language, by their numbers.", _NO_PROMPT),
    "dialogbench_write_en.j2": Described(
        "A conversation of ten turns, a question on it, options, analysis and label, as JSON; the domain is given.",
        "Gives the two personalities, the slot and the asked speaker, drawn beforehand so that their shares are known; "
        "asks for several paragraphs of knowledge, not for 1000 words; shorter, in a list. What it asks and what it "
        "forbids is the paper's.",
    ),
    "dialogbench_write_zh.j2": Described("The same in Chinese.", "The paper's Chinese prompts are not printed."),
    "dialogbench_filter_en.j2": Described(
        "Whether an item is sound and its label right: correct or incorrect.",
        f"The same two questions in one sentence; {_FENCE}.",
    ),
    "dialogbench_filter_zh.j2": Described("The same in Chinese.", "The paper's Chinese prompt is not printed."),
    "dialogbench_classify.j2": Described(
        "The style of each speaker, and the domain, for Figures 5 and 6.",
        "GPT-4 classified both; the paper does not give the prompt.",
    ),
    "dialogbench_question_en.j2": Described(
        "The letter of the right option, the dialogue being the model's own chat with the user, or written out.",
        "The paper's prompt is a picture; what it shows a model, and in which order, is as its section 4 says.",
    ),
    "dialogbench_question_zh.j2": Described("The same in Chinese.", "As in English."),
    "dialogbench_perplexity_en.j2": Described(
        "Dialogue and question, after which each option's text is scored.",
        "The paper's prompt is a picture; what it shows a model, and in which order, is as its section 4 says.",
    ),
    "dialogbench_perplexity_zh.j2": Described("The same in Chinese.", "As in English."),
    "pair.j2": Described("Which of two dialogues is better, as a whole or on a criterion."),
    "locate.j2": Described("Whether a dialogue shows something, and where first."),
    "annotate.j2": Described(
        "Which of several kinds show in a dialogue, such as BotChat's five kinds of failure, and in which utterances "
        "each; the paper and its README sort bad cases by hand, without a judge."
    ),
    "retry_unparsed.j2": Described("The same answer once more, in the required form."),
    "structured_answer.j2": Described("The answer as JSON with named fields, behind another prompt."),
    "partner.j2": Described("The next message of a simulated user with a persona and a goal."),
}
"""Every template of ours."""

PAPERS: dict[str, Described] = {
    "selfchat.j2": Described(
        "As an AI that is to pass the Turing test, to talk like a human: five rounds or more, natural flow and changes "
        "of subject, fewer than 60 words a round, not like an assistant.",
        _AS_PRINTED,
    ),
    "unieval.j2": Described(
        "Choice, index and reason, by the paper's four signs. Four examples, one for people and three for signs.",
        "The paper's examples are not printed; these are ours.",
    ),
    "arena.j2": Described("One of four choices and the reason, in one line.", _AS_PRINTED),
    "gteval.j2": Described(
        "The same, only one of the two having utterances by an AI.",
        "The paper says that this is the one difference from the Arena's prompt, and does not print it.",
    ),
    "rating_turn.j2": Described("Context, response, and the instruction of Table 2 (b).", _AS_PRINTED),
    "rating_dialogue.j2": Described("Dialogue, and the instruction of Table 2 (a).", _AS_PRINTED),
    "rating_criteria.j2": Described(
        "The dimensions by their names, the scale 1 to 5, nothing but ratings, the lines of the output.",
        "A criterion of your own is explained as ours are; it and the words on who is judged come in only where they "
        "are needed.",
    ),
    "yes_no_turn.j2": Described("Context, response, and a question on it as in Table 3 (b).", _AS_PRINTED),
    "yes_no_dialogue.j2": Described(
        "The dialogue of a human with a chatbot, and a question on it as in Table 3 (a).",
        "Human and chatbot are named only where the dialogue shows a chatbot; the paper writes them [H] and [C].",
    ),
    "yes_no_question.j2": Described(
        "Table 4's question on the dimension, without an answer format.",
        "Own criteria have their own questions and points. A chat model that begins with a sentence has little "
        "probability on Yes and No: such answers count as `low_mass`. xDial-Eval's Tables 9 to 14, each model's "
        "own template, are pictures: the engine's chat template stands for them.",
    ),
    "perturb_utterance_duplication.j2": Described(
        "The chatbot's utterances with a portion of each appended to it.", "Ours is the form of the answer."
    ),
    "perturb_repeating_others.j2": Described(
        "The chatbot's utterances with parts of the other speaker's utterances.", "Ours is the form of the answer."
    ),
    "perturb_generic_utterance.j2": Described(
        "The chatbot's utterances as generic responses.", "Ours is the form of the answer."
    ),
    "perturb_content_reduction.j2": Described(
        "The chatbot's utterances simplified, with little information.", "Ours is the form of the answer."
    ),
    "adequacy.j2": Described("Adequacy, defined as in the paper, 1 to 5, in the form `adequacy: x`.", _AS_PRINTED),
    "dialogbench_write_en.j2": Described(
        "What the task is, a dialogue of ten turns in a domain, personalities of the writer's own choice that are "
        "unfriendly now and then, a question as hard as can be, options, analysis and label, in the paper's JSON; "
        "knowledge of more than 1000 words for KRG.",
        "The slot (SF) and the emotions (ED) are given, which the paper leaves to the writer: so all of them come up "
        "equally often and the label can be checked. The relation, the inference and the offence are given there, too. "
        "Without a domain, or without personalities, it is the paper's basic prompt.",
    ),
    "dialogbench_write_zh.j2": Described(
        "The same in Chinese.", "The paper's Chinese prompts are not printed; this is our Chinese of the English ones."
    ),
    "dialogbench_filter_en.j2": Described(
        "Whether question and answer are correct: correct or incorrect, without analysis.", _AS_PRINTED
    ),
    "dialogbench_filter_zh.j2": Described("The same in Chinese.", "The paper's Chinese prompt is not printed."),
}
"""Every template of the papers' set; what it has none for is asked by ours."""


# The page on prompts, `docs/prompts.md`, generated from their descriptions.

DOCS = PROJECT / "docs" / "prompts.md"
MARK = "## Reference\n"
HEAD = """
This part is generated from `workflow/dialeval/report/reference/prompts.py` (`python -m dialeval.report.reference`). The
templates lie in `workflow/dialeval/prompts/` (`ours`) and `workflow/dialeval/prompts/papers/` (`papers`).
"""
_SAME = Described("As `ours`.", "There is no template of its own.")


def docs_text() -> str:
    """Returns the page: what is written by hand, and the reference."""
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
        "\n".join(
            [f"#### `{name}`\n", "| set | what it asks | where it departs from the paper |", "|---|---|---|", *cells]
        )
        + "\n"
    )

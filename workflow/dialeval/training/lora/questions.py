"""Examples as a language model is asked about them: the very prompts of judging, in tokens, with the answer to learn.

An example becomes the request that form `probability` plans for an item and a criterion, rendered by what renders for
vLLM, its reasoning left empty. What is longer than the cutoff loses its oldest utterances, as on the judging side, and
never the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import NO, YES, Criterion
from dialeval.engines.labels import LabelTree, label_tree
from dialeval.engines.request import Message, Request
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.errors import UserError
from dialeval.forms.item_prompts import YES_NO, shortened_with
from dialeval.forms.probability import plan
from dialeval.prompts.rendering import Templates

LABELS = (YES, NO)


@dataclass(frozen=True, slots=True)
class LoraQuestion:
    """One example as the model is asked about it.

    Attributes:
        example_id, cluster: of the table `training_examples`.
        good: whether the answer is Yes.
        prompt: its tokens.
        answer: tokens of Yes or No, as they stand behind this prompt.
        dropped: oldest utterances that were left out.
    """

    example_id: str
    cluster: str
    good: bool
    prompt: list[int]
    answer: tuple[int, ...]
    dropped: int

    @property
    def length(self) -> int:
        """Tokens of prompt and answer together."""
        return len(self.prompt) + len(self.answer)


class LoraQuestions:
    """Makes the questions of one model.

    Args:
        prompts: how the model is asked.
        templates: the prompts' texts.
        criteria: all that examples may be about, by name.
        cutoff: longest prompt with its answer, in tokens.

    Attributes:
        tree: the spellings of Yes and No whose probabilities are summed when it judges.
        too_long: how many examples do not fit the cutoff even without what was said before.
    """

    def __init__(self, prompts: Prompts, templates: Templates, criteria: Mapping[str, Criterion], cutoff: int) -> None:
        self._prompts = prompts
        self._templates = templates
        self._criteria = criteria
        self.tree: LabelTree = label_tree(LABELS, prompts.encode)
        self._lead = prompts.template.before_answer()
        self._answers: dict[tuple[str, str], tuple[int, ...]] = {}
        self.cutoff = cutoff
        self.too_long = 0
        # what `shortened` asks a judge: it leaves one token for the answer
        longest = max(map(len, self.tree.label_of))
        self.context_window: int | None = cutoff - longest + 1

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of a prompt, up to where its label stands."""
        return len(self._prompts.before_label(messages))

    def of(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[LoraQuestion]:
        """Yields the question about each row of the table `training_examples` that fits the cutoff.

        Raises:
            UserError: a criterion is not known, or is not asked about by Yes and No.
        """
        for row in rows:
            request = self._request(row)
            about = [self._criteria[row["criterion"]]]
            shorter, dropped = shortened_with(request, self._templates, self, about, YES_NO)
            prompt, good = self._prompts.before_label(shorter.messages), bool(row["good"])
            answer = self._answer(shorter.messages, prompt, YES if good else NO)
            if len(prompt) + len(answer) > self.cutoff:
                self.too_long += 1
                continue
            yield LoraQuestion(row["example_id"], row["cluster"], good, prompt, answer, dropped)

    def _request(self, row: Mapping[str, Any]) -> Request:
        criterion = self._criteria.get(row["criterion"])
        if criterion is None or not criterion.asks_yes_or_no:
            raise UserError(
                f"training.{row['training']}: criterion '{row['criterion']}' is not asked about by Yes and No, which "
                "is how a language model learns to judge; give it a question under criteria, or leave it out of "
                f"training.{row['training']}.criteria"
            )
        item = Item(
            corpus=row["corpus"],
            item_id=row["example_id"],
            language=row["language"],
            level=row["level"],
            cluster=row["cluster"],
            speakers=tuple(row["speakers"]),
            utterances=tuple(row["utterances"]),
        )
        return next(plan([item], self._templates, lambda _: [criterion])).request

    def _answer(self, messages: tuple[Message, ...], prompt: Sequence[int], label: str) -> tuple[int, ...]:
        """Returns a label's tokens as the tokenizer reads them behind the prompt, if judging looks for these."""
        tokenization, template = self._prompts.tokenization, self._prompts.template
        behind = self._prompts.reasoning.before_label(tokenization.prompt(messages)[0])
        lead = " " if template.plain and not behind[-1:].isspace() else self._lead
        found = self._answers.get((label, lead))
        if found is None:
            whole = tokenization.tokens(behind + lead + label)
            found = tuple(whole[len(prompt) :]) if whole[: len(prompt)] == list(prompt) else ()
            if self.tree.label_of.get(found) != label:  # the tokenizer joins it with what stands before
                found = tuple(self._prompts.encode(label))
            self._answers[label, lead] = found
        return found

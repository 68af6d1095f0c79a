"""BotChat: chatbots talk to themselves, and a judge says who is the machine."""

from __future__ import annotations

from typing import Any

from dialeval.failure_kinds import FAILURES, GOOD
from dialeval.papers.entry import OWN_WORDS, Item, Need, Paper, prompts

_CONFIG = "configs/botchat.yaml"
_PUBLISHED = "The authors' own dialogues and answers, where you have them: configs/botchat-published.yaml."
_NEEDS: tuple[Need, ...] = ("keys", "weights", "workbook", "withdrawn")


def _made(number: str, shows: str, **more: Any) -> Item:
    """Returns an item that BotChat's evaluation makes."""
    return Item(number, shows, config=_CONFIG, target="botchat", needs=_NEEDS, **more)


def _failures(number: str, shows: str, **where: tuple[str, ...]) -> Item:
    """Returns an item about the kinds of failure."""
    return _made(
        number,
        shows,
        tables=("failures/rates", "failures/examples"),
        figures=("failures/rates",),
        stands=("docs/failures.md",),
        remark="By rules, which need no judge, as in the run without keys; a judge names all kinds and the utterances.",
        where=where,
    )


BOTCHAT = Paper(
    "BotChat",
    "BotChat: Evaluating LLMs' Capabilities of Having Multi-Turn Dialogues",
    "https://arxiv.org/abs/2310.13650",
    (
        _made(
            "Table 1",
            "mean length of the utterances that each chatbot writes, in cl100k tokens",
            tables=("botchat/utterance_lengths",),
            remark=_PUBLISHED,
        ),
        _made(
            "Table 2",
            "Bootstrap Elo of the chatbots in Arena at N = 8 and N = 16",
            tables=("arena/ratings",),
            figures=("botchat/table2_arena_ratings",),
            remark="Arena's verdicts were never published; Bradley-Terry and Davidson ratings stand beside Elo.",
        ),
        Item(
            "Figure 1",
            "the procedure, from seeds over self-chat to verdicts",
            stands=("docs/protocols.md",),
            why_not="a drawing, in which nothing is measured",
        ),
        Item(
            "Figure 2",
            "how many utterances the human dialogues have",
            tables=("botchat/seeds",),
            figures=("botchat/figure2_seed_lengths",),
            config="configs/mutual.yaml",
            target="botchat",
            needs=("workbook",),
        ),
        _made(
            "Figure 3",
            "distribution of utterance lengths by chatbot, in cl100k tokens",
            tables=("botchat/utterance_lengths",),
            figures=("botchat/figure3_utterance_lengths",),
            remark=_PUBLISHED,
        ),
        _made(
            "Figure 4",
            "UniEval: share of dialogues in which the judge sees no chatbot up to N",
            tables=("unieval/pass_rates",),
            figures=("botchat/figure4_unieval",),
            remark=_PUBLISHED,
        ),
        _made(
            "Figure 5",
            "Arena: who wins, or wins or ties, against whom",
            tables=("arena/win_rates",),
            figures=("botchat/figure5_arena_n{n}",),
        ),
        _made(
            "Figure 6",
            "GTEval: how often a chatbot's dialogue wins, ties and loses against people's",
            tables=("gteval/win_rates",),
            figures=("botchat/figure6_gteval",),
            remark=_PUBLISHED,
        ),
        _made(
            "Figure 7",
            "UniEval's pass rate, each dialogue cut to the length of people's on the same seed",
            tables=("unieval/pass_rates_at_gt_length",),
            figures=("botchat/figure7_unieval_at_gt_length",),
            remark=_PUBLISHED,
        ),
        _failures("Figure 8", "bad dialogues of five kinds", criterion=tuple(FAILURES)),
        _failures("Figure 9", "a good dialogue", criterion=(GOOD,)),
        Item(
            "Algorithm 1",
            "self-chat, utterance by utterance",
            stands=("workflow/dialeval/protocols/selfchat.py",),
        ),
        _made(
            "Appendix A",
            "Elo over shuffled comparisons, its median",
            tables=("arena/ratings",),
            stands=("workflow/dialeval/stats/elo.py",),
        ),
        Item(
            "Appendix B",
            "the prompts of self-chat, UniEval, Arena and GTEval",
            stands=("docs/prompts.md", *prompts("selfchat", "unieval", "arena", "gteval")),
            remark=OWN_WORDS,
        ),
        _failures("Appendix C", "five kinds of failure, and what a good dialogue is like"),
        Item(
            "README, leaderboard",
            "share of verdicts against people's dialogues that a chatbot wins or ties",
            tables=("gteval/win_rates",),
            config=_CONFIG,
            target="report",
            needs=_NEEDS,
            remark="Stands in the report's leaderboard too.",
        ),
    ),
)

"""Rates the chatbots from Arena's verdicts (BotChat, Table 2 and appendix A)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.arena import arena_elo
from dialeval.aggregation.differences import corrected
from dialeval.aggregation.words import dialogue_words
from dialeval.config import Elo
from dialeval.schemas.botchat import ARENA_ELO, CHATBOT_DIFFERENCES, GENERATED
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.shared import UTTERANCES
from dialeval.stages.command import run
from dialeval.tables import Provenance, empty_table, read_tables, to_table, write_for_people, write_table

COLUMNS = ("judge", "case_id", "left", "right", "n_utterances", "outcome", "status")


class Settings(BaseModel):
    """The judges, the chatbots in their order, the lengths N, and the settings of Elo."""

    judges: list[str]
    chatbots: list[str]
    n_utterances: list[int]
    elo: Elo
    random_seed: int


def stage(
    settings: Settings,
    judgements: list[Path],
    dialogues: list[Path],
    elo: Path,
    elo_csv: Path,
    differences: Path,
    provenance: Provenance,
) -> None:
    """Writes the table `botchat/arena_elo`, and of `botchat/differences` the rows on these ratings."""
    table, rows = arena_elo(
        read_tables(judgements, JUDGEMENTS, COLUMNS).to_pandas(),
        dialogue_words(empty_table(UTTERANCES), read_tables(dialogues, GENERATED)),
        settings.judges,
        settings.chatbots,
        settings.n_utterances,
        settings.elo,
        settings.random_seed,
    )
    write_for_people(elo, elo_csv, ARENA_ELO, table, provenance)
    write_table(differences, CHATBOT_DIFFERENCES, to_table(CHATBOT_DIFFERENCES, corrected(rows)), provenance)


if __name__ == "__main__":
    run(stage)

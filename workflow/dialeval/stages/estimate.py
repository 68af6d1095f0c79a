"""Says what a run would ask of each model, and what that would take, before anything is asked."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.config import Model, OpenAIModel, Protocols, Selfchat
from dialeval.corpora.scenarios import scenarios_of
from dialeval.engines.prices import prices_of
from dialeval.estimation.chats import Chats, chat_estimate, estimate_chats
from dialeval.estimation.judgements import Subjects, estimate_judging
from dialeval.estimation.known_models import KnownModel, known_model
from dialeval.estimation.planned import estimate_planned
from dialeval.estimation.reading import estimate_table, in_words
from dialeval.prompts.rendering import Templates
from dialeval.protocols.partner import told_partner
from dialeval.protocols.planning import (
    arena_seeds,
    generated_dialogues,
    gteval_seeds,
    human_dialogues,
    human_speakers,
)
from dialeval.protocols.selfchat import TEMPLATE
from dialeval.protocols.voices import PARTNER
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.shared import ESTIMATE, UTTERANCES
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_table, read_tables, write_for_people

LEARNED = ".learned"


class Settings(BaseModel):
    """The models that are asked, the parts of all models, and what is asked.

    `askers` are the models that are asked the planned requests of a protocol; `left_out` is what cannot be estimated.
    """

    models: dict[str, Model]
    chatbots: list[str]
    judges: list[str]
    selfchat: Selfchat
    protocols: Protocols
    askers: dict[str, list[str]] = {}
    left_out: list[str] = []


def stage(
    settings: Settings,
    human: Path,
    seeds: Path,
    scenarios: list[Path],
    learned: list[Path],
    dialogues: list[Path],
    planned: list[Path],
    store: Path,
    table: Path,
    csv: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `estimate` and prints it.

    `learned` are the files <model>.learned of embedded models; `dialogues` the tables `generated` of published models;
    `planned` the tables of requests <protocol>.parquet that do not depend on chatbots.
    """
    seed_rows = read_table(seeds, SEEDS)
    played = {name: scenario for path in scenarios for name, scenario in scenarios_of(path).items()}
    utterances = read_table(human, UTTERANCES)
    people = human_dialogues(utterances, seed_rows)
    first = {row["seed_id"]: tuple(row["utterances"]) for row in seed_rows.to_pylist()}
    models = _known_models(settings, learned)
    estimates, chats = [], []
    chat, system = settings.selfchat, templates.render(TEMPLATE)
    partner = chat_estimate(models[chat.partner], PARTNER, chat, people) if chat.partner else None
    told = told_partner(first, played, templates, chat.end)
    for name in settings.chatbots:
        if name in models:
            estimate, known = estimate_chats(models[name], first, people, chat, system, store, partner, told)
            estimates.append(estimate)
            chats.append(known)
    if partner is not None:
        partner.notes.append("at most: the partner may end a talk before its length")
        estimates.append(partner)
    published = generated_dialogues(read_tables(dialogues, GENERATED))
    chats += [Chats(name, known=dict(published[name])) for name in settings.chatbots if name in published]
    judges = [models[name] for name in settings.judges if name in models]
    speakers = human_speakers(utterances, seed_rows)
    subjects = Subjects(chats, people, speakers, arena_seeds(seed_rows), gteval_seeds(seed_rows))
    estimates += estimate_judging(judges, settings.protocols, subjects, templates, store)
    for path in planned:
        asked = [models[name] for name in settings.askers[path.stem] if name in models]
        estimates += estimate_planned(asked, path.stem, path, store)
    prices = {name: prices_of(model) for name, model in settings.models.items()}
    batched = {name for name, model in settings.models.items() if isinstance(model, OpenAIModel) and model.batch}
    result = estimate_table(estimates, prices, batched, settings.left_out)
    write_for_people(table, csv, ESTIMATE, result, provenance)
    print(in_words(result))


def _known_models(settings: Settings, learned: list[Path]) -> dict[str, KnownModel]:
    files = {path.name.removesuffix(LEARNED): path for path in learned}
    return {
        name: known_model(name, settings.models[name], files)
        for name in dict.fromkeys(
            [
                *settings.chatbots,
                *filter(None, [settings.selfchat.partner]),
                *settings.judges,
                *chain(*settings.askers.values()),
            ]
        )
        if name in settings.models
    }


if __name__ == "__main__":
    run(stage)

"""Stages that estimate what a run will ask, cost and show, and that compare two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.botchat import Selfchat
from dialeval.config.endpoints import OpenAIModel
from dialeval.config.models import Model
from dialeval.config.protocol_settings import Adaptive, Cascade
from dialeval.corpora.dialogues import scenarios_of
from dialeval.corpora.items import chatbot_items, human_items
from dialeval.engines.requests import Dialogue
from dialeval.engines.spending.prices import Prices, prices_of
from dialeval.measures.item_values import COLUMNS
from dialeval.planning.chat_estimates import Chats, chat_estimate, estimate_chats
from dialeval.planning.estimates import Estimate, cost_of_case, estimate_table, in_words, planning_in_words
from dialeval.planning.judge_power import CaseCosts, PlannedDesign, Row, Size, chats_size, planned_size
from dialeval.planning.judging_estimates import Subjects, estimate_judging, estimate_planned
from dialeval.planning.known_models import KnownModel, known_model
from dialeval.planning.label_power import EarlierLabels, LabelPlan, plans
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import QuestionSettings
from dialeval.protocols.questions import Question
from dialeval.protocols.selfchat import PARTNER, TEMPLATE, partner_messages
from dialeval.report.comparison import compare
from dialeval.stages.measures import read_judgements
from dialeval.tables.dialogues import ESTIMATE, SEEDS, UTTERANCES
from dialeval.tables.files import read_tables, to_table, write_for_people
from dialeval.tables.labels import ESTIMATES, PLANNING, REPLACEMENT, VARIANCE_COMPONENTS


class PlannedProtocolSettings(QuestionSettings):
    """A protocol about chatbots' dialogues, or an adaptive one, and its judges."""

    judges: list[str]
    adaptive: Adaptive | None = None

    def question(self) -> Question:
        """Return the protocol's question, with its adaptive settings."""
        question = super().question()
        return replace(question, protocol=question.protocol.model_copy(update={"adaptive": self.adaptive}))


class EstimateSettings(BaseModel, defer_build=True):
    """The models, their roles, and the planned requests.

    `askers` are the models of a protocol's planned requests, `in_rounds` the adaptive ones among them; `cascades` are
    those of protocols; `left_out` has the parts without an estimate; `designs` are the protocols
    about systems.
    """

    models: dict[str, Model]
    chatbots: list[str]
    selfchat: Selfchat
    questions: list[PlannedProtocolSettings]
    askers: dict[str, list[str]] = {}
    in_rounds: list[PlannedProtocolSettings] = []
    cascades: dict[str, Cascade] = {}
    left_out: list[str] = []
    designs: list[PlannedDesign] = []
    labels: LabelPlan | None = None


def estimate(
    settings: EstimateSettings,
    human: list[Path],
    seeds: list[Path],
    scenarios: list[Path],
    learned: list[Path],
    dialogues: list[Path],
    planned: list[Path],
    store: Path,
    table: Path,
    csv: Path,
    judgements: list[Path],
    corrected: list[Path],
    spread: list[Path],
    replacement: list[Path],
    planning: Path,
    planning_csv: Path,
    templates: Templates,
) -> None:
    """Write the tables `estimate` and `planning`, and print them.

    `human` and `seeds` are empty without self-chat; `learned` are the files <model>.learned of embedded models;
    `dialogues` the tables `generated` of published models; `planned` the tables of requests <protocol>.parquet that do
    not depend on chatbots. `judgements`, `corrected` `spread` (variance components of labels) and `replacement` are
    tables that an earlier run has made.
    """
    seed_rows = read_tables(seeds, SEEDS)
    played = {name: scenario for path in scenarios for name, scenario in scenarios_of(path).items()}
    partnered = settings.selfchat.partner is not None
    people = {
        item.case_id: item for item in human_items(read_tables(human, UTTERANCES), seed_rows, partnered=partnered)
    }
    human_dialogues = {seed_id: item.utterances for seed_id, item in people.items()}
    first = {row["seed_id"]: tuple(row["utterances"]) for row in seed_rows.to_pylist()}
    models = _known_models(settings, learned)
    estimates, chats = [], []
    chat, system = settings.selfchat, templates.render(TEMPLATE)
    partner = chat_estimate(models[chat.partner], PARTNER, chat, human_dialogues) if chat.partner else None
    partner_prompts = partner_messages(first, played, templates, chat.end)
    for name in settings.chatbots:
        if name in models:
            estimate, known = estimate_chats(
                models[name], first, human_dialogues, chat, system, store, partner, partner_prompts
            )
            estimates.append(estimate)
            chats.append(known)
    if partner is not None:
        partner.notes.append("at most: the partner may end a dialogue early")
        estimates.append(partner)
    published: dict[str, dict[str, Dialogue]] = {}
    for item in chatbot_items(dialogues, seed_rows, partnered=partnered):
        published.setdefault(item.system, {})[item.case_id] = item.utterances
    chats += [Chats(name, known=published[name]) for name in settings.chatbots if name in published]
    languages = dict(zip(seed_rows["seed_id"].to_pylist(), seed_rows["language"].to_pylist(), strict=True))
    questions_and_models = [
        (about.question(), [models[name] for name in about.judges if name in models]) for about in settings.questions
    ]
    estimates += estimate_judging(questions_and_models, Subjects(chats, people, languages, partnered), templates, store)
    rounds = {about.name: about.question() for about in settings.in_rounds}
    for path in planned:
        judges = [models[name] for name in settings.askers[path.stem] if name in models]
        estimates += estimate_planned(judges, path.stem, path, store, rounds.get(path.stem))
    for estimate in estimates:
        cascade = settings.cascades.get(estimate.protocol)
        if cascade and cascade.then == estimate.model.name:
            estimate.keep_share(
                cascade.share, f"a random {cascade.share:.0%}, more where {cascade.first} is less certain"
            )
    prices = {name: prices_of(model) for name, model in settings.models.items()}
    batched = {name for name, model in settings.models.items() if isinstance(model, OpenAIModel) and model.batch}
    result = estimate_table(estimates, prices, batched, settings.left_out)
    write_for_people(table, csv, ESTIMATE, result)
    print(in_words(result))
    sizes = {
        about.name: chats_size(about.protocol.form, about.protocol.data.opponent, seed_rows, len(settings.chatbots))
        for about in settings.questions
    } | {path.stem: planned_size(path) for path in planned}
    rows = _plans(
        settings,
        sizes,
        estimates,
        prices,
        batched,
        judgements,
        EarlierLabels(
            [row for row in read_tables(corrected, ESTIMATES).to_pylist() if row["opponent"] is None],
            read_tables(spread, VARIANCE_COMPONENTS).to_pylist(),
            read_tables(replacement, REPLACEMENT).to_pylist(),
        ),
    )
    write_for_people(planning, planning_csv, PLANNING, to_table(PLANNING, rows))
    print("\n".join(filter(None, ["", planning_in_words(rows)])))


def _plans(
    settings: EstimateSettings,
    sizes: Mapping[str, Size],
    estimates: list[Estimate],
    prices: Mapping[str, Prices],
    batched: set[str],
    judgements: list[Path],
    earlier: EarlierLabels,
) -> list[Row]:
    talking = {about.name for about in settings.questions}
    rows: list[Row] = []
    for planned in settings.designs:
        name = planned.design.protocol
        if name in sizes:
            stored = [path for path in judgements if path.stem == name]
            about = estimates, prices, batched, name, sizes[name].n_cases
            costs = CaseCosts(*(cost_of_case(*about, talks=talks) for talks in (name in talking, False)))
            frame = read_judgements(stored, (*COLUMNS, "repeat"))
            rows += plans(planned, sizes[name], frame, costs, settings.labels, earlier)
    return rows


def _known_models(settings: EstimateSettings, learned: list[Path]) -> dict[str, KnownModel]:
    files = {path.name.removesuffix(".learned"): path for path in learned}
    judges = [name for about in settings.questions for name in about.judges]
    return {
        name: known_model(name, settings.models[name], files)
        for name in dict.fromkeys(
            [
                *settings.chatbots,
                *filter(None, [settings.selfchat.partner]),
                *judges,
                *chain(*settings.askers.values()),
            ]
        )
        if name in settings.models
    }


def compare_runs(first: Path, second: Path, folder: Path) -> None:
    """Write the page and the tables of the comparison of two folders of results into a folder."""
    print(compare(first, second, folder))

"""Stages that read dialogues, ratings and scores, choose seeds, and let embedded models learn from corpora.

Readers of files are imported by the stages that read these: other stages are most of the jobs of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from dialeval.config.corpora import COMPLETE, COMPLETION_TEMPLATE, Seeds
from dialeval.config.running import Tokens
from dialeval.corpora.contamination import (
    LENGTH,
    Completed,
    Passage,
    Text,
    contamination_rows,
    memorization_rows,
    passages_to_complete,
)
from dialeval.corpora.dialogues import (
    dialogues_of,
    left_out,
    length_distribution,
    not_seeds,
    scenario_table,
    seed_table,
    seeds_of,
    utterance_table,
)
from dialeval.corpora.dialogues import read_scenarios as scenarios_read_scenarios
from dialeval.corpora.items import drawn_dialogues, item_rows, iterate_items
from dialeval.corpora.rated_sources import RatedReading, check_joined, left_out_rows, rating_rows
from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.engines.cl100k import CL100K, WORDS, Tokenizer, cl100k_tokenizer, fetched_tokenizer
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.paths import replacing
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planned_requests import Planned, write_requests
from dialeval.protocols.verdicts import text_to_read
from dialeval.tables.dialogues import (
    CONTAMINATION,
    GENERATED,
    HIDDEN_MESSAGES,
    JUDGE_REPORT,
    JUDGEMENTS,
    MEMORIZATION,
    RESPONSES,
    SCENARIOS,
    SEED_LENGTHS,
    SEEDS,
    TOKENIZER,
    UTTERANCE_LENGTHS,
    UTTERANCE_TOKENS,
    UTTERANCES,
)
from dialeval.tables.files import (
    TableWriter,
    empty_table,
    iterate_rows,
    read_table,
    read_tables,
    to_table,
    write_for_people,
    write_table,
)
from dialeval.tables.metaeval import ITEMS, LEFT_OUT_ITEMS, RATINGS
from dialeval.tables.training import JUDGED_TEXTS
from dialeval.text import counted, noted


class DownloadSettings(BaseModel, defer_build=True):
    """Which corpora, where to, and a folder to copy them from in place of the network."""

    corpora: list[str]
    data_dir: Path
    mirror: Path | None


def download(settings: DownloadSettings) -> None:
    """Download public corpora into the data folder, after printing their licences; checks the files that are there."""
    from dialeval.corpora.download import download as fetch_corpora

    files = fetch_corpora(settings.corpora, settings.data_dir, settings.mirror)
    print(f"{len(files)} files are in {settings.data_dir}")


class ReadCorpusSettings(BaseModel, defer_build=True):
    """The corpus to read."""

    name: str
    reader: str
    path: Path | None
    language: str


def read_corpus(settings: ReadCorpusSettings, utterances: Path) -> None:
    """Write the table `utterances` of a corpus of human dialogues."""
    from dialeval.corpora import readers

    reading = readers.read_corpus(settings.reader, settings.path, settings.language)
    print(reading.summary())
    write_table(utterances, UTTERANCES, utterance_table(settings.name, reading))


def extract_seeds(settings: Seeds, utterances: Path, seeds: Path) -> None:
    """Write the table `seeds`: the ChatSEEDs of human dialogues (BotChat 3.1)."""
    dialogues = read_table(utterances, UTTERANCES)
    table = seed_table(dialogues, arena_min_utterances=settings.arena_min_utterances, limit=settings.limit)
    rows = table.to_pylist()
    print(f"{counted(len(rows), 'seed')}, {sum(row['for_arena'] for row in rows)} of them for Arena")
    if without_seed := not_seeds(dialogues):
        print(left_out("dialogues", without_seed, "since the first two utterances have one speaker"))
    print(f"{sum(row['for_gteval'] for row in rows)} for GTEval")
    if others := [row["seed_id"] for row in rows if row["for_arena"] and not row["for_gteval"]]:
        print(left_out("dialogues", others, "of GTEval, since the speakers do not alternate"))
    write_table(seeds, SEEDS, table)


def seed_lengths(seeds: Path, table: Path, csv: Path) -> None:
    """Write the table `botchat/seeds`: human dialogues by length (BotChat, Figure 2)."""
    write_for_people(table, csv, SEED_LENGTHS, length_distribution(read_table(seeds, SEEDS)))


class ContaminationSettings(BaseModel, defer_build=True):
    """Names of the corpora, in the order of their tables, and by source the utterances that begin a dialogue."""

    corpora: list[str]
    n_seed_utterances: dict[str, int]


def find_contamination(
    settings: ContaminationSettings, items: list[Path], corpora: list[Path], table: Path, csv: Path
) -> None:
    """Write the table `contamination`: cases and dialogues with a passage that a corpus contains."""
    texts = {
        name: (str(row["text"]) for row in iterate_rows(path, UTTERANCES, ["text"]))
        for name, path in zip(settings.corpora, corpora, strict=True)
    }
    every = chain.from_iterable(iterate_items(path) for path in items)
    rows = contamination_rows(every, texts, settings.n_seed_utterances)
    for row in rows:
        if row["n_shared"]:
            whose = f"responses of {row['system']}" if row["system"] else "cases"
            print(f"{row['source']}: {row['n_shared']} of {row['n']} {whose} have a passage of corpus {row['corpus']}")
    write_for_people(table, csv, CONTAMINATION, to_table(CONTAMINATION, rows))


class CompletedCorpus(BaseModel, defer_build=True):
    """A corpus whose texts are completed: a table `utterances` (dialogues) or `items`."""

    name: str
    kind: Literal["dialogues", "items"]

    def passages(self, source: Path, n: int, random_seed: int) -> tuple[list[Passage], int]:
        """Return the passages of n drawn dialogues, and the number of dialogues without one."""
        if self.kind == "dialogues":
            dialogues = dialogues_of(read_table(source, UTTERANCES))
            texts = [Text(name, name, utterances) for name, utterances in dialogues.items()]
        else:
            texts = [
                Text(f"{item.language}/{item.item_id}", item.cluster or item.item_id, item.utterances)
                for item in iterate_items(source)
            ]
        return passages_to_complete(texts, n, random_seed)


class CompletionSettings(BaseModel, defer_build=True):
    """A corpus, how many of its dialogues are drawn, and the longest response."""

    corpus: CompletedCorpus
    n: int
    random_seed: int
    max_tokens: int


def plan_completion(settings: CompletionSettings, source: Path, requests: Path, templates: Templates) -> None:
    """Write the table `requests`: the first part of each drawn text, to be continued."""
    passages, n_without = settings.corpus.passages(source, settings.n, settings.random_seed)
    if not passages:
        raise UserError(
            f"memorization: none of the {counted(n_without, 'dialogue')} of corpus '{settings.corpus.name}' has "
            f"{2 * LENGTH} letters and digits; remove the corpus"
        )
    name = settings.corpus.name
    write_requests(
        requests,
        (
            Planned(
                Request(
                    request_id=completion_request(name, passage),
                    protocol=COMPLETE,
                    kind="chat",
                    messages=(Message("user", templates.render(COMPLETION_TEMPLATE, text=passage.shown)),),
                    sampling=Sampling(temperature=0.0, max_tokens=settings.max_tokens),
                    subject=((passage.shown,),),
                ),
                corpus=name,
                item_id=passage.name,
            )
            for passage in passages
        ),
    )


def completion_request(corpus: str, passage: Passage) -> str:
    """Return the id of the request that completes a text."""
    return f"{COMPLETE}/{corpus}/{passage.digest}"


class MemorizationSettings(BaseModel, defer_build=True):
    """The corpora in the order of their tables, those that models cannot have seen, the models, and the draw."""

    corpora: list[CompletedCorpus]
    control: list[str]
    models: list[str]
    n: int
    random_seed: int
    confidence: float = 0.95


def measure_memorization(
    settings: MemorizationSettings, sources: list[Path], responses: list[Path], table: Path, csv: Path
) -> None:
    """Write the table `memorization`: texts that models complete verbatim.

    `responses` are those of models, each under a folder of its name: `<model>/<requests>/<shard>`.
    """
    columns = ["request_id", "status", "text", "finish_reason"]
    completed = []
    for corpus, source in zip(settings.corpora, sources, strict=True):
        passages, n_without = corpus.passages(source, settings.n, settings.random_seed)
        for model in settings.models:
            own = [path for path in responses if path.parts[-3:-1] == (model, f"{COMPLETE}-{corpus.name}")]
            rows = {row["request_id"]: row for row in read_tables(own, RESPONSES, columns).to_pylist()}
            found = [rows.get(completion_request(corpus.name, passage)) for passage in passages]
            texts = [text_to_read(row) if row and row["status"] == "ok" else None for row in found]
            is_control = corpus.name in settings.control
            completed.append(Completed(model, corpus.name, passages, texts, n_without, is_control))
    rows_of_table = memorization_rows(completed, settings.confidence)
    for row in rows_of_table:
        if row["n"]:
            print(
                f"{row['model']} completes {row['n_verbatim']} of {row['n']} texts of corpus {row['corpus']} verbatim"
            )
    write_for_people(table, csv, MEMORIZATION, to_table(MEMORIZATION, rows_of_table))


class LearnEmbeddedSettings(BaseModel, defer_build=True):
    """The model that learns."""

    name: str
    method: str
    folds: int
    random_seed: int


def learn_embedded(
    settings: LearnEmbeddedSettings, corpora: list[Path], learned: Path, report: Path, report_csv: Path
) -> None:
    """Write the learned state of an embedded model, and its accuracy on held-out dialogues and perturbed ones."""
    from dialeval.engines.embedded.learning import learn, learned_bytes

    dialogues = [dialogue for path in corpora for dialogue in dialogues_of(read_table(path, UTTERANCES)).values()]
    print(
        f"{settings.name} ({settings.method}) learns from {counted(len(dialogues), 'dialogue')} in "
        f"{counted(settings.folds, 'fold')}"
    )
    result = learn(settings.method, dialogues, random_seed=settings.random_seed, folds=settings.folds)
    with replacing(learned) as temporary:
        temporary.write_bytes(learned_bytes(result))
    rows = [{"judge": settings.name, **asdict(row)} for row in result.report]
    write_for_people(report, report_csv, JUDGE_REPORT, to_table(JUDGE_REPORT, rows))


class ReadTranscriptsSettings(BaseModel, defer_build=True):
    """The transcripts' name, path and settings."""

    name: str
    path: Path
    options: Options


def read_transcripts(settings: ReadTranscriptsSettings, items: Path, hidden_messages: Path, left_out: Path) -> None:
    """Write the tables `items`, `hidden_messages` and `left_out_items` of transcripts."""
    reading = read_items(settings.name, settings.path, settings.options)
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(reading.items), group_size=512)
    write_table(hidden_messages, HIDDEN_MESSAGES, to_table(HIDDEN_MESSAGES, reading.hidden_messages))
    rows = [one._asdict() for one in reading.left_out]
    write_table(left_out, LEFT_OUT_ITEMS, to_table(LEFT_OUT_ITEMS, rows))


class ReadScenariosSettings(BaseModel, defer_build=True):
    """How many scenarios are kept, and whether each needs an opening."""

    limit: int | None = None
    opened: bool = False


def read_scenarios(settings: ReadScenariosSettings, path: Path, scenarios: Path, seeds: Path, people: Path) -> None:
    """Write the tables `scenarios`, `seeds` and, without rows, `utterances` of chats with a simulated user."""
    found = scenarios_read_scenarios(path, limit=settings.limit, opened=settings.opened)
    without = sum(not scenario.opening for scenario in found)
    print(f"{path}: {counted(len(found), 'scenario')} read, {without} of them without an opening")
    write_table(scenarios, SCENARIOS, scenario_table(found))
    write_table(seeds, SEEDS, seeds_of(found))
    write_table(people, UTTERANCES, empty_table(UTTERANCES))


class ReadRatedSettings(BaseModel, defer_build=True):
    """The corpus to read, the user's criteria of its ratings, and the pairs of judged and rated criteria.

    Attributes:
        limit: dialogues of each language to keep, drawn with `random_seed`; None for all.
    """

    name: str
    reader: str
    path: Path
    languages: list[str] | None
    own_criteria: list[str] = []
    criterion_map: dict[str, str] = {}
    limit: int | None = None
    random_seed: int = 0


def read_rated(settings: ReadRatedSettings, items: Path, ratings: Path, left_out: Path) -> None:
    """Write the tables `items`, `ratings` and `left_out_items` of a rated corpus."""
    from dialeval.corpora import readers

    reading = readers.read_rated(
        settings.reader, settings.name, settings.path, settings.languages, settings.own_criteria
    )
    check_joined(reading, settings.criterion_map, f"metaeval.corpora.{settings.name}.criterion_map")
    if settings.limit is not None:
        _keep_sample(reading, settings.limit, settings.random_seed)
    print(reading.summary())
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(reading.items))
    write_table(ratings, RATINGS, to_table(RATINGS, list(rating_rows(reading.ratings))))
    rows = left_out_rows(settings.name, reading)
    write_table(left_out, LEFT_OUT_ITEMS, to_table(LEFT_OUT_ITEMS, rows))


def _keep_sample(reading: RatedReading, limit: int, random_seed: int) -> None:
    """Leave out the items and ratings of all dialogues but `limit` of each language."""
    drawn = drawn_dialogues(reading.items, limit, random_seed)
    for item in reading.items:
        if (item.language, item.cluster) not in drawn:
            reading.leave_out(item.language, item.item_id, f"not among the {limit} dialogues of `limit`")
    reading.items = [item for item in reading.items if (item.language, item.cluster) in drawn]
    kept = {item.item_id for item in reading.items}
    reading.ratings = [rating for rating in reading.ratings if rating.item_id in kept]


class ReadScoresSettings(BaseModel, defer_build=True):
    """The metric, the lowest and highest value that it can give, and by corpus the judged and the rated criterion."""

    name: str
    scale_min: float
    scale_max: float
    dimensions: dict[str, str] = {}
    joined: dict[str, dict[str, str]] = {}


def read_scores(
    settings: ReadScoresSettings,
    file: Path,
    items: list[Path],
    ratings: list[Path],
    left_out: list[Path],
    judgements: Path,
) -> None:
    """Write the table `judgements` of a file of ready scores."""
    from dialeval.corpora import score_files

    about = score_files.rated_corpora(
        read_tables(items, ITEMS, ["corpus", "language", "item_id", "level"]).to_pydict(),
        read_tables(ratings, RATINGS, ["corpus", "dimension"]).to_pydict(),
        read_tables(left_out, LEFT_OUT_ITEMS).to_pydict(),
        settings.joined,
    )
    notes: Counter[str] = Counter()
    scale = (settings.scale_min, settings.scale_max)
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(score_files.read_score_file(file, settings.name, scale, about, notes, settings.dimensions))
    print(f"{file}: {counted(table.rows, 'score')} read")
    for note, count in notes.items():
        print(f"{file}: {counted(count, 'score')} {note}")


class ImportDialoguesSettings(BaseModel, defer_build=True):
    """The chatbot, its column in the file, and how long dialogues are; `seeds_limit` as in the configuration."""

    name: str
    column: str
    n_utterances: int
    seeds_limit: int | None = None


def import_dialogues(settings: ImportDialoguesSettings, seeds: Path, published: Path, generated: Path) -> None:
    """Write the table `generated` of a chatbot whose self-chat others published."""
    from dialeval.corpora.botchat import read_dialogues
    from dialeval.protocols.imported_answers import turns
    from dialeval.protocols.selfchat import rows

    by_id = {row["seed_id"]: tuple(row["utterances"]) for row in read_table(seeds, SEEDS).to_pylist()}
    notes: Counter[str] = Counter()
    dialogues = turns(
        by_id,
        read_dialogues(published, settings.column),
        n_utterances=settings.n_utterances,
        only_some_seeds=settings.seeds_limit is not None,
        source=f"{published}, column {settings.column}",
        notes=notes,
    )
    with TableWriter(generated, GENERATED) as table:
        table.write_all(rows(settings.name, by_id, dialogues))
    print(f"{published}, column {settings.column}: {counted(len(dialogues), 'dialogue')} of {settings.name}")
    for note, count in (+notes).items():
        print(noted(count, note))


def judged_texts(
    items: list[Path],
    seeds: list[Path],
    human: list[Path],
    texts: Path,
) -> None:
    """Write the table `judged_texts`, which no judge may learn from: items, and human dialogues with a ChatSEED."""
    from dialeval.training.human_dialogues import judged_rows

    rows = judged_rows(_judged(items, seeds, human))
    print(f"{len(rows)} passages are judged")
    write_table(texts, JUDGED_TEXTS, to_table(JUDGED_TEXTS, rows))


def _judged(items: list[Path], seeds: list[Path], human: list[Path]) -> Iterator[tuple[str, str, Sequence[str]]]:
    for path in items:
        for item in iterate_items(path):
            yield item.corpus, item.item_id, item.utterances
    named = {row["seed_id"] for path in seeds for row in iterate_rows(path, SEEDS, ["seed_id"])}
    for path in human:
        table = read_table(path, UTTERANCES)
        corpus = table["corpus"][0].as_py() if len(table) else ""
        for dialogue_id, utterances in dialogues_of(table).items():
            if dialogue_id in named:
                yield corpus, dialogue_id, utterances


def merge_shards(seeds: Path, parts: list[Path], merged: Path) -> None:
    """Write the table `generated` of a chatbot from the parts that several jobs wrote, in the order of the seeds."""
    order = {seed_id: number for number, seed_id in enumerate(read_table(seeds, SEEDS)["seed_id"].to_pylist())}
    table = read_tables(parts, GENERATED)
    rows = sorted(range(len(table)), key=lambda row: order[table["seed_id"][row].as_py()])
    write_table(merged, GENERATED, table.take(rows))


def choose_tokenizer(settings: Tokens, tokenizer: Path) -> None:
    """Write the table `botchat/tokenizer`: cl100k tokens, or words and marks where its vocabulary is missing.

    The vocabulary itself is kept outside the results, see docs/running.md.
    """
    chosen, reason = fetched_tokenizer(settings.cl100k_file, may_fetch=settings.fetch)
    print(f"utterance lengths are counted in {chosen.name}")
    if reason:
        print(
            f"note: {reason}. For tokens as in the paper: python -m dialeval.engines.cl100k fetch, or name the file "
            "under tokens.cl100k_file; then snakemake --cores 8 --forcerun choose_tokenizer counts anew"
        )
    row = {"tokenizer": chosen.name, "reason": reason or None}
    write_table(tokenizer, TOKENIZER, to_table(TOKENIZER, [row]))


def utterance_lengths(
    settings: Tokens,
    human: Path,
    seeds: Path,
    dialogues: list[Path],
    tokenizer: Path,
    tokens: Path,
    table: Path,
    csv: Path,
) -> None:
    """Write `botchat/utterance_tokens`, by utterance, and `botchat/utterance_lengths`, by model (BotChat, Table 1)."""
    chosen = _as_chosen(read_table(tokenizer, TOKENIZER)["tokenizer"][0].as_py(), settings.cl100k_file)
    from dialeval.measures.corpora import length_summary, utterance_tokens

    lengths = utterance_tokens(
        read_table(human, UTTERANCES), read_table(seeds, SEEDS), read_tables(dialogues, GENERATED), chosen
    )
    write_table(tokens, UTTERANCE_TOKENS, lengths)
    write_for_people(table, csv, UTTERANCE_LENGTHS, length_summary(lengths))


def _as_chosen(name: str, cl100k_file: Path | None) -> Tokenizer:
    """Return the tokenizer that all lengths of these results are counted by."""
    if name != CL100K:
        return WORDS
    tokenizer = cl100k_tokenizer(cl100k_file, network_seconds=0)
    if tokenizer is WORDS:
        raise UserError(
            "the utterance lengths of these results are in tokens of cl100k_base, and its vocabulary is not on this "
            "machine: run python -m dialeval.engines.cl100k fetch, or choose the unit again: snakemake --cores 8 "
            "--forcerun choose_tokenizer"
        )
    return tokenizer

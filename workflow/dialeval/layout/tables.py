"""Paths of tables and figures, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dialeval import layout
from dialeval.config.labels import judges_to_draw_by, labelled_protocols, labelled_sheets
from dialeval.config.protocol_settings import Protocol
from dialeval.criteria import FAILURES_PROTOCOL
from dialeval.figures import registry
from dialeval.figures.registry import Drawing, drawings
from dialeval.layout.dialogues import Below
from dialeval.layout.judgements import SCORING_FORMS, Judgements

AT_HUMAN_LENGTH = "pass_rates_at_gt_length"
"""The measure that cuts dialogues to the length of the human ones."""
LAST = ("ratings", "differences", "ranks")
"""The measures that need others: differences those of the ratings, ranks the differences."""
METAEVAL_TABLES = (
    "corpora", "annotator_agreement", "correlations", "averages", "judge_pairs", "ranking_agreement", "by_language",
    "natural_chinese", "ceilings", "dimension_ensemble", "model_ensemble", "matrices",
)  # fmt: skip
ROBUSTNESS_TABLES = ("pairs", "robustness", "averages", "thresholds", "score_drops", "severity_levels", "differences")
DIALOGBENCH_TABLES = (
    "items", "accuracy", "overview", "averages", "domains", "positions", "circular", "experts", "agreement", "styles",
    "domain_counts", "ablations", "filter_counts", "differences",
)  # fmt: skip
TRAINING_TABLES = ("record", "curve", "runs", "samples")
CORRECTED_TABLES = ("estimates", "differences", "ranks", "replacement", "calibration", "selective")
LABEL_TABLES = (*CORRECTED_TABLES, "agreement", "annotators", "variance_components")


@dataclass(frozen=True)
class Tables(Judgements):
    """Tables of a run.

    Attributes:
        has_labels: whether human labels have been given to the run.
    """

    has_labels: bool = False

    TABLE = Below(layout.TABLE)
    SEED_LENGTHS = Below("tables/botchat/seeds.parquet")
    SEED_LENGTHS_CSV = Below("tables/botchat/seeds.csv")
    CONTAMINATION = Below("tables/contamination.parquet")
    CONTAMINATION_CSV = Below("tables/contamination.csv")
    MEMORIZATION = Below("tables/memorization.parquet")
    MEMORIZATION_CSV = Below("tables/memorization.csv")
    TOKENIZER = Below("tables/botchat/tokenizer.parquet")
    UTTERANCE_TOKENS = Below("tables/botchat/utterance_tokens.parquet")
    UTTERANCE_LENGTHS = Below("tables/botchat/utterance_lengths.parquet")
    UTTERANCE_LENGTHS_CSV = Below("tables/botchat/utterance_lengths.csv")
    EMBEDDED = Below("tables/embedded/{model}.parquet")
    EMBEDDED_CSV = Below("tables/embedded/{model}.csv")
    MEASURE = Below("tables/{protocol}/{measure}.parquet")
    RATING_DIFFERENCES = Below("rating_differences/{protocol}.parquet")
    ADAPTIVE_ROUNDS = Below("tables/{protocol}/adaptive_rounds.parquet")
    ADAPTIVE_ROUNDS_CSV = Below("tables/{protocol}/adaptive_rounds.csv")
    JUDGE_VALIDITY = Below("tables/{protocol}/judge_validity.parquet")
    JUDGE_VALIDITY_CSV = Below("tables/{protocol}/judge_validity.csv")
    BATTLES = Below("tables/battles/{battles}.parquet")
    BATTLES_CSV = Below("tables/battles/{battles}.csv")
    BATTLE_DIFFERENCES = Below("tables/battles/differences/{battles}.parquet")
    BATTLE_DIFFERENCES_CSV = Below("tables/battles/differences/{battles}.csv")
    CORRELATIONS = Below("tables/metaeval/correlations.parquet")
    TRANSLATION_CORPORA = Below("tables/translation/corpora.parquet")
    TRANSLATION_CORPORA_CSV = Below("tables/translation/corpora.csv")
    TRANSLATION_QUALITY = Below("tables/translation/quality.parquet")
    TRANSLATION_QUALITY_CSV = Below("tables/translation/quality.csv")
    LABEL_AGREEMENT = Below("tables/labels/agreement.parquet")
    LABEL_AGREEMENT_CSV = Below("tables/labels/agreement.csv")
    ANNOTATORS = Below("tables/labels/annotators.parquet")
    ANNOTATORS_CSV = Below("tables/labels/annotators.csv")
    LABEL_COMPONENTS = Below("tables/labels/variance_components.parquet")
    LABEL_COMPONENTS_CSV = Below("tables/labels/variance_components.csv")
    LABEL_PLANNING = Below("tables/labels/planning.parquet")
    LABEL_PLANNING_CSV = Below("tables/labels/planning.csv")
    DRAWN_TO_LABEL = Below("labels/draw/{protocol}.parquet")
    DRAWN_LEDGER = Below("labels/draw/{protocol}.ledger")
    LABELLING_PAGE = Below("labels/pages/{annotator}/{sheet}-{annotator}.html")
    LABELLING_SHEET = Below("labels/pages/{annotator}/{sheet}-{annotator}.csv")
    LABELS = Below("labels/labels.parquet")
    LABELS_CSV = Below("labels/labels.csv")
    USAGE_TABLE = Below("tables/usage.parquet")
    USAGE_TABLE_CSV = Below("tables/usage.csv")
    ESTIMATE = Below("tables/estimate.parquet")
    ESTIMATE_CSV = Below("tables/estimate.csv")

    def tables(self, folder: str, names: Iterable[str]) -> list[str]:
        """Return tables in a folder below `tables`, each as Parquet and, for reading, as CSV."""
        named = [f"{folder}/{name}".lstrip("/") for name in names]
        return [self.TABLE.format(name=name, suffix=suffix) for name in named for suffix in ("parquet", "csv")]

    # measures

    def botchat_names(self) -> list[str]:
        """Return BotChat's tables and the measures of all protocols, below `tables` and without suffix."""
        seeds = [] if self.scenarios() else ["botchat/seeds"]
        return [*seeds, "botchat/utterance_lengths", *self.measure_names()]

    def measure_names(self) -> list[str]:
        """Return the measures of all protocols, below `tables` and without suffix."""
        measures = [
            f"{name}/{measure}"
            for name, protocol in self.protocols.items()
            if self.config.judging(name)
            for measure in protocol.measured()
        ]
        return measures + [f"{name}/adaptive_rounds" for name in self.adaptive_protocols if self.rounds(name)]

    @cached_property
    def measured_protocols(self) -> dict[str, list[str]]:
        """Return the measures of each protocol that has judges and measures, those last that need others."""
        measured = {
            name: measures
            for name, one in self.protocols.items()
            if self.config.judging(name) and (measures := list(one.measured()))
        }
        return {
            name: [
                *(one for one in dict.fromkeys(measures) if one not in LAST),
                *(one for one in LAST if one in measures),
            ]
            for name, measures in measured.items()
        }

    def protocol_tables(self, protocol: str) -> list[str]:
        """Return the tables of a protocol's measures."""
        return self.tables(protocol, self.measured_protocols[protocol])

    def measured_items(self, protocol: str) -> list[str]:
        """Return the items whose lengths or texts measures need beside the judgements."""
        if "examples" in self.measured_protocols[protocol]:
            return self.items(protocol)
        has_lengths = not {"ratings", "bias"}.isdisjoint(self.measured_protocols[protocol])
        return self.items_of(self.protocols[protocol].data.source) if has_lengths else []

    def measured_seeds(self, protocol: str) -> list[str]:
        """Return the seeds, if a measure cuts dialogues to the length of the human ones."""
        return [self.seeds] if AT_HUMAN_LENGTH in self.measured_protocols[protocol] else []

    def rating_differences(self, protocol: str) -> list[str]:
        """Return the differences of ratings, if systems are rated under the protocol."""
        is_rated = "ratings" in self.measured_protocols[protocol]
        return [self.RATING_DIFFERENCES.format(protocol=protocol)] if is_rated else []

    def own_results(self) -> list[str]:
        """Return the judgements of failures and under the user's own protocols, with their measures."""
        tables = [name for name in self.measure_names() if name.split("/")[0] in self.own_measures]
        return self.judgements_of(self.own_measures) + self.tables("", tables)

    @cached_property
    def validated_protocols(self) -> list[str]:
        """Return the protocols whose judges are validated by rated corpora."""
        return [
            name
            for name, protocol in self.protocols.items()
            if protocol.form in SCORING_FORMS and not {"rated", "perturbed"}.issuperset(protocol.data.source)
        ]

    def validity_tables(self) -> list[str]:
        """Return the tables of how well judges agree with people on rated corpora."""
        return self.tables("", [f"{name}/judge_validity" for name in self.validated_protocols])

    def validity_correlations(self) -> list[str]:
        """Return the correlations by which judges are validated, if there are rated corpora."""
        return [self.CORRELATIONS] if self.config.metaeval else []

    # meta-evaluation, robustness, DialogBench, training, translation

    def repeat_agreement(self) -> list[str]:
        """Return the tables of how far judges agree with themselves."""
        return self.tables("metaeval", ["repeat_agreement"])

    def all_metaeval_tables(self) -> list[str]:
        """Return the tables of rated corpora and of how well judges agree with people."""
        return self.tables("metaeval", METAEVAL_TABLES)

    def metaeval_tables(self) -> list[str]:
        """Return all tables of meta-evaluation."""
        if not self.config.metaeval:
            return []
        return self.all_metaeval_tables() + (self.repeat_agreement() if self.repeated_scores() else [])

    def all_robustness_tables(self) -> list[str]:
        """Return the tables that the stage of robustness makes."""
        return self.tables("robustness", ROBUSTNESS_TABLES)

    def robustness_tables(self) -> list[str]:
        """Return the tables of robustness, if it is configured."""
        return self.all_robustness_tables() if self.config.robustness else []

    def all_dialogbench_tables(self) -> list[str]:
        """Return the tables that the stage of DialogBench makes."""
        return self.tables("dialogbench", DIALOGBENCH_TABLES)

    def dialogbench_tables(self) -> list[str]:
        """Return the tables of DialogBench, if it is configured."""
        return self.all_dialogbench_tables() if self.config.dialogbench else []

    def training_data_table(self) -> list[str]:
        """Return the table of the training sets' composition."""
        return self.tables("training", ["data"])

    def learning_tables(self) -> list[str]:
        """Return the tables of how well judges learned."""
        return self.tables("training", TRAINING_TABLES)

    def training_tables(self) -> list[str]:
        """Return the tables of training, if any model learns."""
        return self.training_data_table() + self.learning_tables() if self.config.used_training() else []

    def translation_tables(self) -> list[str]:
        """Return the tables of translations."""
        if not self.config.translate:
            return []
        return self.tables("translation", ["corpora", *(["quality"] if self.checked_translations() else [])])

    def contamination_tables(self) -> list[str]:
        """Return the tables of passages in published corpora and of memorised texts that are configured."""
        return [
            *([self.CONTAMINATION, self.CONTAMINATION_CSV] if self.config.contamination else []),
            *([self.MEMORIZATION, self.MEMORIZATION_CSV] if self.config.memorization else []),
        ]

    # human labels

    @cached_property
    def labelled_protocols(self) -> dict[str, Protocol]:
        """Return the protocols that people label under."""
        return labelled_protocols(self.config)

    @cached_property
    def sheets(self) -> Mapping[str, tuple[str, str]]:
        """Return protocol and level of each sheet that an annotator gets."""
        return labelled_sheets(self.config)

    @property
    def labels_folder(self) -> str:
        """Return the folder of human labels, which belongs to the user."""
        return str(self.config.labels.path.expanduser()) if self.config.labels else ""

    @property
    def annotators(self) -> Sequence[str]:
        """Return the annotators."""
        return self.config.labels.annotators if self.config.labels else []

    def labelled_items(self) -> list[str]:
        """Return the items that people label."""
        return list(dict.fromkeys(path for name in self.labelled_protocols for path in self.items(name)))

    def judgements_to_draw_by(self, protocol: str) -> list[str]:
        """Return the judgements whose scores the sampling design uses; empty if it uses none."""
        judges = judges_to_draw_by(self.config, protocol)
        return [self.JUDGEMENTS.format(judge=judge, protocol=protocol) for judge in judges]

    def drawn_for_sheet(self, sheet: str) -> str:
        """Return the draw of a sheet's protocol."""
        return self.DRAWN_TO_LABEL.format(protocol=self.sheets[sheet][0])

    def items_of_sheet(self, sheet: str) -> list[str]:
        """Return the items of a sheet's protocol."""
        return self.items(self.sheets[sheet][0])

    def labelling_sheets(self) -> list[str]:
        """Return the pages and sheets of all annotators."""
        return [
            pattern.format(annotator=annotator, sheet=sheet)
            for annotator in self.annotators
            for sheet in self.sheets
            for pattern in (self.LABELLING_PAGE, self.LABELLING_SHEET)
        ]

    def labelled_judgements(self) -> list[str]:
        """Return the judgements that labels are compared with."""
        return self.judgements_of(self.labelled_protocols)

    def adaptive_requests(self) -> list[str]:
        """Return all requests of the labelled protocols whose judges do not get each of them."""
        names = [name for name in self.labelled_protocols if name in self.adaptive_protocols]
        return [self.REQUESTS.format(protocol=name) for name in names]

    def corrected_tables(self) -> list[str]:
        """Return the tables of human-corrected estimates, and of judges checked by labels."""
        return self.tables("labels", CORRECTED_TABLES)

    def label_tables(self) -> list[str]:
        """Return the tables of human labels, if there are any labels."""
        return self.tables("labels", LABEL_TABLES) if self.has_labels else []

    # battles

    def battle_tables(self) -> list[str]:
        """Return the ratings of all tables of battles."""
        return [self.BATTLES.format(battles=name) for name in self.config.battles]


@dataclass(frozen=True)
class Figures(Tables):
    """Figures of a run."""

    FIGURE = Below("figures/{part}/{name}.{suffix}")
    FIGURE_SVG = Below("figures/{protocol}/{measure}.svg")
    FIGURE_PDF = Below("figures/{protocol}/{measure}.pdf")
    BATTLE_SVG = Below("figures/battles/{battles}.svg")
    BATTLE_PDF = Below("figures/battles/{battles}.pdf")

    @cached_property
    def drawn(self) -> dict[str, list[Drawing]]:
        """Return the figures of each part; a figure without data shows the reason."""
        config = self.config
        by_dialogue = "clustered by dialogue"
        botchat = {
            "roster": self.roster,
            "arena_min": config.seeds.arena_min_utterances,
            "n": config.protocols.arena.n_utterances if config.protocols.arena else [],
            "protocol": [name for name in self.protocols if name not in self.own_measures],
        }
        tables = [*self.botchat_names(), "botchat/utterance_tokens"]
        return {
            "botchat": drawings(registry.BOTCHAT, botchat, tables),
            "metaeval": drawings(registry.METAEVAL, _interval(config.metaeval, "dialogues resampled")),
            "robustness": drawings(registry.ROBUSTNESS, _interval(config.robustness, by_dialogue)),
            "dialogbench": drawings(registry.DIALOGBENCH, _interval(config.dialogbench, by_dialogue)),
            "training": drawings(registry.TRAINING, _interval(None, by_dialogue)),
            "labels": drawings(registry.LABELS, _interval(config.labels, "clustered by case")),
        }

    @cached_property
    def roster(self) -> list[str]:
        """Return the systems whose colours are the same in all figures."""
        return ["human", *self.config.chatbots]

    def drawn_measure(self, protocol: str, measure: str) -> list[Drawing]:
        """Return the figures of a measure of one of the user's own protocols."""
        figures = [figure for figure in registry.MEASURES if figure.name == measure]
        return drawings(figures, {"roster": self.roster, "protocol": [protocol]})

    def drawn_battles(self, battles: str) -> list[Drawing]:
        """Return the figures of a table of battles."""
        words = f"95% confidence interval (resampled by {self.config.battles[battles].cluster or 'row'})"
        return drawings(registry.BATTLES, {"title": [battles], "interval": words})

    def figures(self, part: str, suffix: str) -> list[str]:
        """Return the figures of a part."""
        return [self.FIGURE.format(part=part, name=one.name, suffix=suffix) for one in self.drawn[part]]

    def both_figures(self, part: str) -> list[str]:
        """Return the figures of a part as SVG and as PDF."""
        return [*self.figures(part, "svg"), *self.figures(part, "pdf")]

    def tables_drawn(self, part: str) -> list[str]:
        """Return the tables that the figures of a part are drawn from."""
        names = dict.fromkeys(table for one in self.drawn[part] for table in one.tables)
        return [self.TABLE.format(name=table, suffix="parquet") for table in names]

    def measure_figures(self, suffix: str) -> list[str]:
        """Return the figures of the user's own protocols."""
        return [
            self.FIGURE.format(part=name, name=measure, suffix=suffix)
            for name, protocol in self.shown_protocols().items()
            if name in self.own_measures
            for measure in protocol.measured()
            if measure in self.measures_with_figures
        ]

    @cached_property
    def measures_with_figures(self) -> list[str]:
        """Return the measures that are drawn one by one."""
        return [figure.name for figure in registry.MEASURES]

    def failure_figures(self, suffix: str) -> list[str]:
        """Return the figures of failures."""
        folder = f"{self.results}/figures/{FAILURES_PROTOCOL}/"
        return [path for path in self.measure_figures(suffix) if path.startswith(folder)]

    def label_figures(self, suffix: str) -> list[str]:
        """Return the figures of human labels, if there are any labels."""
        return self.figures("labels", suffix) if self.has_labels else []


def _interval(section: Any, how: str) -> dict[str, str]:
    """Return the words for the bars of a part's figures."""
    return {"interval": f"{100 * (section.confidence if section else 0.95):g}% confidence interval ({how})"}

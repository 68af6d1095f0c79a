"""Paths of dialogues and items: corpora, self-chat, transcripts, rated corpora, translations, perturbed items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dialeval import layout
from dialeval.config.configuration import Config
from dialeval.config.models import EmbeddedModel, EncoderModel, Model, PublishedModel, VllmModel
from dialeval.config.protocol_settings import Protocol


@dataclass(frozen=True)
class Below:
    """A pattern of paths below the results of a layout; its wildcards stand in braces."""

    pattern: str

    def __get__(self, layout: Dialogues, owner: type[Dialogues]) -> str:
        """Return the pattern as the rules of a run name it."""
        return f"{layout.results}/{self.pattern}"


@dataclass(frozen=True)
class Dialogues:
    """Dialogues and items of a run.

    Attributes in capitals are patterns with wildcards; methods return paths, and their arguments bear the names of the
    wildcards that they depend on.
    """

    config: Config

    READ_CORPUS = Below("corpora/{corpus}.parquet")
    EXTRACTED_SEEDS = Below("seeds.parquet")
    SCENARIOS = Below("scenarios/scenarios.parquet")
    SCENARIO_SEEDS = Below("scenarios/seeds.parquet")
    SCENARIO_PEOPLE = Below("scenarios/people.parquet")
    DIALOGUES = Below(layout.DIALOGUES)
    DIALOGUES_SHARD = Below("dialogues/{chatbot}.shards/{shard}-of-{shards}.parquet")
    SELFCHAT_ITEMS = Below("items/selfchat.parquet")
    TRANSCRIPT_ITEMS = Below("items/{source}.parquet")
    HIDDEN_MESSAGES = Below("hidden_messages/{source}.parquet")
    TRANSCRIPTS_LEFT_OUT = Below("left_out/{source}.parquet")
    ITEMS = Below(layout.ITEMS)
    RATINGS = Below("ratings/{corpus}.parquet")
    LEFT_OUT = Below("left_out/{corpus}.parquet")
    IMPUTED = Below("imputed_ratings/{judge}.parquet")
    RULE_ITEMS = Below("perturbed/by_rule.items.parquet")
    RULE_PAIRS = Below("perturbed/by_rule.pairs.parquet")
    REWRITTEN_ITEMS = Below(layout.REWRITTEN_ITEMS)
    REWRITTEN_PAIRS = Below("perturbed/by_{model}.pairs.parquet")
    TRANSLATION = Below("translations/{corpus}/{language}.parquet")
    TRANSLATED_UTTERANCES = Below("translations/{corpus}/{language}.utterances.parquet")
    TRANSLATION_COUNTS = Below("translations/{corpus}/{language}.counts.parquet")
    TRANSLATION_SAMPLE = Below("translations/{corpus}/{language}.sample.parquet")
    TRANSLATION_SAMPLE_CSV = Below("translations/{corpus}/{language}.sample.csv")
    BACK_TRANSLATION = Below("translations/{corpus}/{language}.back.parquet")
    BACK_TRANSLATION_CSV = Below("translations/{corpus}/{language}.back.csv")
    TRANSLATION_SCORES = Below("translations/{corpus}/{language}.{metric}.csv")
    LEARNED = Below("embedded/{model}.learned")
    TRAINED = Below("trained/{judge}")
    TRAINED_DIGEST = Below("trained/{judge}.digest")
    CHECKPOINTS = Below("checkpoints/{judge}")
    JUDGED_TEXTS = Below("training/judged.parquet")
    OVERLAP = Below("training/{training}/overlap.parquet")
    EXAMPLES = Below("training/{training}/examples.parquet")

    @cached_property
    def results(self) -> str:
        """Return the folder of the results, as rules name it."""
        return str(self.config.results_dir)

    @cached_property
    def store(self) -> str:
        """Return the folder of the store of responses, as rules name it."""
        return str(self.config.store_dir)

    @cached_property
    def protocols(self) -> dict[str, Protocol]:
        """Return the protocols of the run; the configuration resolves them anew at every call."""
        return self.config.resolved_protocols()

    @cached_property
    def published(self) -> list[str]:
        """Return the models whose responses or dialogues others published."""
        return [name for name, model in self.config.models.items() if isinstance(model, PublishedModel)]

    @property
    def partner(self) -> str | None:
        """Return the model that simulates the user in self-chat, if there is one."""
        return self.config.selfchat.partner

    def model(self, name: str | None) -> Model | None:
        """Return a model of the configuration, or None if it has none of that name."""
        return self.config.models.get(name) if name else None

    def shards(self, model: str) -> range:
        """Return the numbers of a model's shards."""
        return range(1, self.config.models[model].shards + 1)

    # corpora and self-chat

    def corpora_of(self, names: Iterable[str]) -> list[str]:
        """Return the utterances of corpora."""
        return [self.READ_CORPUS.format(corpus=name) for name in names]

    def scenarios(self) -> list[str]:
        """Return the table of scenarios, if self-chat has any."""
        return [self.SCENARIOS] if self.config.selfchat.scenarios else []

    @property
    def seeds(self) -> str:
        """Return the seeds of self-chat."""
        return self.SCENARIO_SEEDS if self.config.selfchat.scenarios else self.EXTRACTED_SEEDS

    @property
    def seed_corpus(self) -> str:
        """Return the utterances of the corpus that seeds are taken from."""
        return self.READ_CORPUS.format(corpus=self.config.seeds.corpus)

    @property
    def human(self) -> str:
        """Return the human dialogues that chatbots' dialogues are compared with."""
        return self.SCENARIO_PEOPLE if self.config.selfchat.scenarios else self.seed_corpus

    def dialogues_of(self, chatbots: Iterable[str]) -> list[str]:
        """Return the dialogues of chatbots."""
        return [self.DIALOGUES.format(chatbot=name) for name in chatbots]

    def dialogues(self) -> list[str]:
        """Return the dialogues of all chatbots."""
        return self.dialogues_of(self.config.chatbots)

    def dialogue_shards(self, chatbot: str) -> list[str]:
        """Return the parts of a chatbot's dialogues, one per shard."""
        shards = self.shards(chatbot)
        return [self.DIALOGUES_SHARD.format(chatbot=chatbot, shard=shard, shards=len(shards)) for shard in shards]

    def sharded_chatbots(self) -> list[str]:
        """Return the chatbots whose dialogues are made in several jobs."""
        return [name for name in self.config.chatbots if self.config.models[name].shards > 1]

    # items

    def source_items(self, corpora: Iterable[str]) -> list[str]:
        """Return the item tables of corpora or transcripts in their own languages."""
        return [self.ITEMS.format(corpus=corpus) for corpus in corpora]

    def items_of(self, corpora: Iterable[str]) -> list[str]:
        """Return the item tables of corpora or transcripts, followed by those of their translations."""
        names = list(corpora)
        return self.source_items(names) + self.translations_of(names)

    @cached_property
    def rated(self) -> list[str]:
        """Return the rated corpora."""
        return list(self.config.rated_corpora)

    @cached_property
    def read_rated(self) -> list[str]:
        """Return the rated corpora that are read from files."""
        return [name for name in self.rated if name not in self.constructed_rated]

    @cached_property
    def constructed_rated(self) -> list[str]:
        """Return the rated corpora that are made of perturbed dialogues."""
        return [name for name, corpus in self.config.rated_corpora.items() if corpus.reader == "severity_levels"]

    def rated_items(self) -> list[str]:
        """Return the item tables of all rated corpora."""
        return self.items_of(self.rated)

    def ladder_dialogues(self, corpus: str) -> str:
        """Return the dialogues that a rated corpus is made of."""
        return self.READ_CORPUS.format(corpus=self.config.rated_corpora[corpus].dialogues)

    def ratings_of(self, corpora: Iterable[str]) -> list[str]:
        """Return the rating tables of rated corpora."""
        return [self.RATINGS.format(corpus=corpus) for corpus in corpora]

    def ratings(self) -> list[str]:
        """Return the rating tables of all rated corpora."""
        return self.ratings_of(self.rated)

    def imputed_ratings(self) -> list[str]:
        """Return the table of the ratings that the imputer gave, if there is one."""
        imputer = self.config.metaeval.imputer if self.config.metaeval else None
        return [self.IMPUTED.format(judge=imputer)] if imputer else []

    def transcript_items(self) -> list[str]:
        """Return the item tables of transcripts."""
        return self.items_of(self.config.transcripts)

    def hidden_messages(self) -> list[str]:
        """Return the messages of transcripts that judges do not see."""
        return [self.HIDDEN_MESSAGES.format(source=source) for source in self.config.transcripts]

    # perturbed items

    @property
    def rewriters(self) -> list[str]:
        """Return the model that perturbs items, if there is one."""
        section = self.config.robustness
        return [section.rewriter] if section and section.rewriter else []

    def perturbed(self, kind: str) -> list[str]:
        """Return the tables of perturbed `items`, or of the `pairs` that they form with their originals."""
        section = self.config.robustness
        if not section:
            return []
        makers = ["rule", *(self.rewriters if section.corpora else [])]
        return [f"{self.results}/perturbed/by_{maker}.{kind}.parquet" for maker in makers]

    def perturbed_items(self) -> list[str]:
        """Return the tables of perturbed items."""
        return self.perturbed("items")

    def perturbed_pairs(self) -> list[str]:
        """Return the tables of the pairs of a perturbed item and its original."""
        return self.perturbed("pairs")

    def items_to_perturb(self) -> list[str]:
        """Return the item tables of the rated corpora whose items are perturbed."""
        return self.source_items(self.config.perturbed_rated_corpora())

    def ratings_of_originals(self) -> list[str]:
        """Return the ratings by which good items are chosen to be perturbed; none where all items are."""
        section = self.config.robustness
        is_chosen = section is not None and section.min_quality is not None
        return self.ratings_of(self.config.perturbed_rated_corpora()) if is_chosen else []

    # translations

    @cached_property
    def translated(self) -> dict[str, tuple[str, str]]:
        """Return corpus and language by the name under which their translation is requested."""
        return {
            f"translate-{corpus}-{language}": (corpus, language)
            for corpus, settings in self.config.translate.items()
            for language in settings.into
        }

    def checked_translations(self) -> list[tuple[str, str]]:
        """Return the corpora and languages whose translations are checked."""
        return [pair for pair in self.translated.values() if self.config.translate[pair[0]].quality]

    def translations_of(self, corpora: Iterable[str]) -> list[str]:
        """Return the translations of corpora, one table per corpus and language."""
        languages = {name: self.config.translate[name].into for name in corpora if name in self.config.translate}
        return [
            self.TRANSLATION.format(corpus=name, language=code) for name, codes in languages.items() for code in codes
        ]

    def source_table(self, corpus: str) -> str:
        """Return the table of a corpus of dialogues, or the items of a rated one."""
        return (self.READ_CORPUS if corpus in self.config.corpora else self.ITEMS).format(corpus=corpus)

    def translation_counts(self) -> list[str]:
        """Return the counts of all translations."""
        return [self.TRANSLATION_COUNTS.format(corpus=name, language=code) for name, code in self.translated.values()]

    def translation_samples(self) -> list[str]:
        """Return the samples of the translations that are checked."""
        return [
            self.TRANSLATION_SAMPLE.format(corpus=name, language=code) for name, code in self.checked_translations()
        ]

    def translation_scores(self) -> dict[str, list[str]]:
        """Return the files of scores that are computed in an environment of their own, by metric."""
        found: dict[str, list[str]] = {}
        for corpus, language in self.checked_translations():
            quality = self.config.translate[corpus].quality
            for metric in quality.metrics if quality else ():
                path = self.TRANSLATION_SCORES.format(corpus=corpus, language=language, metric=metric)
                found.setdefault(metric, []).append(path)
        return found

    def all_translation_scores(self) -> list[str]:
        """Return the same files for all metrics."""
        return [path for files in self.translation_scores().values() for path in files]

    def scored_rows(self, corpus: str, language: str, metric: str) -> str:
        """Return the tables that a metric reads of a sample: translations or back-translations."""
        rows = self.BACK_TRANSLATION_CSV if metric == "bertscore" else self.TRANSLATION_SAMPLE_CSV
        return rows.format(corpus=corpus, language=language)

    # what models learn

    def learned(self, name: str | None) -> list[str]:
        """Return the files that a model's engine has learned: an embedded model's state, or trained weights.

        Trained weights are a folder, followed by the file of its digest.
        """
        model = self.model(name)
        if isinstance(model, EmbeddedModel):
            return [self.LEARNED.format(model=name)]
        if isinstance(model, EncoderModel) and model.weights:
            weights = model.weights.expanduser()
            return [str(weights / file) for file in ("metric.json", "experts.safetensors")]
        if model is None or not model.learns_from:
            return []
        return [self.TRAINED.format(judge=name), self.TRAINED_DIGEST.format(judge=name)]

    def corpora_to_learn(self, model: str) -> list[str]:
        """Return the corpora that an embedded model learns from."""
        learner = self.config.models[model]
        return self.corpora_of(learner.learn_from) if isinstance(learner, EmbeddedModel) else []

    def items_to_look_up(self) -> list[str]:
        """Return the dialogues of systems whose passages are looked for in the corpora."""
        return [*([self.SELFCHAT_ITEMS] if self.config.talks() else []), *self.source_items(self.config.transcripts)]

    # training

    def trained_judges(self) -> dict[str, list[str]]:
        """Return the training sets of every trained model in use."""
        used = [name for name in self.config.models_in_use() if name in self.config.models]
        return {name: list(sets) for name in used if (sets := self.config.models[name].learns_from)}

    def lora_judges(self) -> list[str]:
        """Return the models with an adapter that the run trains."""
        return [name for name in self.trained_judges() if isinstance(self.config.models[name], VllmModel)]

    def encoder_judges(self) -> list[str]:
        """Return the models that are trained as encoders."""
        return [name for name in self.trained_judges() if isinstance(self.config.models[name], EncoderModel)]

    def checkpoints(self, judge: str) -> str:
        """Return the folder of a training's checkpoints, with which it resumes."""
        return self.CHECKPOINTS.format(judge=judge)

    def training_dialogues(self, training: str) -> list[str]:
        """Return the dialogues of a training set: originals first, whichever languages are chosen."""
        section = self.config.training[training]
        translated = [
            self.TRANSLATION.format(corpus=corpus, language=language)
            for corpus in section.corpora()
            if corpus in self.config.translate
            for language in self.config.translate[corpus].into
            if section.languages is None or language in section.languages
        ]
        return self.corpora_of(section.corpora()) + translated

    def judges_examples(self, judge: str) -> list[str]:
        """Return the examples that a judge learns from."""
        return [self.EXAMPLES.format(training=name) for name in self.config.models[judge].learns_from]

    def overlap(self, training: str) -> list[str]:
        """Return the dialogues of a training set that are judged later."""
        return [self.OVERLAP.format(training=training)]

    def judged_items(self) -> list[str]:
        """Return all items that are judged and that people, not chatbots, spoke in."""
        by_rule = self.perturbed_items()[:1]  # a model rewrites the same dialogues
        return [*self.rated_items(), *by_rule, *self.transcript_items()]

    def judged_seeds(self) -> list[str]:
        """Return the seeds, if any chatbot continues them."""
        return [self.seeds] if self.config.chatbots else []

    def judged_human(self) -> list[str]:
        """Return the human dialogues, if chatbots are compared with them."""
        return [self.human] if self.config.chatbots else []

"""Paths of requests, responses and judgements, and the records of models' usage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dialeval import layout
from dialeval.config.corpora import COMPLETE, Memorization
from dialeval.config.dialogbench import Examine
from dialeval.config.protocol_settings import Cascade, Protocol
from dialeval.criteria import FAILURES_BY_RULE, FAILURES_PROTOCOL
from dialeval.layout.dialogues import Below, Dialogues

SCORING_FORMS = ("scale", "probability")
"""The forms of protocols whose judgements are scores of single items."""


@dataclass(frozen=True)
class Judgements(Dialogues):
    """Requests, responses and judgements of a run."""

    REQUESTS = Below(layout.REQUESTS)
    CASCADE_REQUESTS = Below("requests/cascades/{protocol}.parquet")
    RETRIES = Below(layout.RETRIES)
    TRANSLATION_REQUESTS = Below("requests/translate-{corpus}-{language}.parquet")
    BACK_REQUESTS = Below("requests/back-{corpus}-{language}.parquet")
    ADEQUACY_REQUESTS = Below("requests/adequacy-{corpus}-{language}.parquet")
    COMPLETION_REQUESTS = Below("requests/complete-{corpus}.parquet")
    EXAMINATION_REQUESTS = Below("requests/dialogbench_{method}.parquet")
    RESPONSES = Below(layout.RESPONSES)
    UNSHARDED_RESPONSES = Below("responses/{judge}/{protocol}/1-of-1.parquet")
    RETRIED = Below(layout.RETRIED)
    ROUNDS = Below("rounds/{judge}/{protocol}.parquet")
    JUDGEMENTS = Below(layout.JUDGEMENTS)
    ENSEMBLE_JUDGEMENTS = Below("judgements/{ensemble}/{method}.parquet")
    CASCADE_JUDGEMENTS = Below("judgements/{cascade}/{protocol}.parquet")
    SCORE_JUDGEMENTS = Below("judgements/{metric}/file.parquet")
    FOUND_FAILURES = Below(f"judgements/{FAILURES_BY_RULE}/{FAILURES_PROTOCOL}.parquet")
    USAGE = Below(layout.USAGE)
    UNSHARDED_USAGE = Below("usage/{judge}/{protocol}-1-of-1.json")
    RETRIED_USAGE = Below("usage/again/{judge}/{protocol}.json")
    REWRITER_USAGE = Below("usage/{model}/perturb-1-of-1.json")
    ITEM_USAGE = Below("usage/dialogbench/{part}.json")
    PARTNER_USAGE = Below("usage/{partner}/partner-of-{chatbot}-{shard}-of-{shards}.json")
    CHATBOT_USAGE = Below("usage/{chatbot}/selfchat-{shard}-of-{shards}.json")
    WRITTEN_TEST_ITEMS = Below("dialogbench/written.parquet")
    FILTERED_TEST_ITEMS = Below("dialogbench/filtered.parquet")
    DESCRIPTIONS = Below("dialogbench/descriptions.parquet")
    TEST_ITEMS = Below(layout.TEST_ITEMS)
    TEST_ANSWERS = Below("dialogbench/answers/{model}/{method}.parquet")
    EXPERT_SHEET = Below("dialogbench/experts/sheet.csv")
    EXPERT_SHEET_DIGEST = Below("dialogbench/experts/sheet.digest")
    EXPERT_ANSWERS = Below("dialogbench/experts/answers.parquet")

    # which protocols and judges there are

    @cached_property
    def ensembles(self) -> dict[str, dict[str, dict[str, list[str]]]]:
        """Return, by ensemble and method, the methods of its members' scores by member."""
        return self.config.ensemble_methods()

    @cached_property
    def retried_protocols(self) -> list[str]:
        """Return the protocols under which unparsable responses are requested again."""
        return [name for name, protocol in self.protocols.items() if protocol.retry_unparsed]

    @cached_property
    def adaptive_protocols(self) -> list[str]:
        """Return the protocols whose pairs are judged in rounds, until they are settled."""
        return [name for name, protocol in self.protocols.items() if protocol.adaptive]

    @cached_property
    def cascades(self) -> dict[str, Cascade]:
        """Return the cascades by protocol."""
        return {name: protocol.cascade for name, protocol in self.protocols.items() if protocol.cascade}

    def gives_scores(self, protocol: str) -> bool:
        """Return whether judgements under a protocol are scores of single items."""
        settings = self.protocols.get(protocol)
        return settings is not None and settings.form in SCORING_FORMS

    def is_about_items(self, protocol: Protocol) -> bool:
        """Return whether a protocol is about rated or perturbed items."""
        return not {"rated", "perturbed", *self.rated}.isdisjoint(protocol.data.source)

    def is_about_chatbots(self, protocol: str) -> bool:
        """Return whether a protocol is about chatbots' dialogues."""
        return "selfchat" in self.protocols[protocol].data.source

    def shown_protocols(self) -> dict[str, Protocol]:
        """Return the protocols about dialogues of systems, chatbots' or transcripts'."""
        items = {"rated", "perturbed", *self.rated}
        return {
            name: protocol
            for name, protocol in self.protocols.items()
            if self.config.judging(name) and not items.issuperset(protocol.data.source)
        }

    @cached_property
    def own_measures(self) -> list[str]:
        """Return the protocols whose measures are drawn one by one: failures, and the user's own protocols."""
        return [*([FAILURES_PROTOCOL] if FAILURES_PROTOCOL in self.protocols else []), *self.config.protocols.own]

    # requests and responses

    def items(self, protocol: str) -> list[str]:
        """Return the item tables that a protocol is about, without perturbed items."""
        sources = {"rated": self.rated}
        return [
            path
            for source in self.protocols[protocol].data.source
            if source != "perturbed"
            for path in self.items_of(sources.get(source, [source]))
        ]

    def failures_items(self) -> list[str]:
        """Return the item tables in which failures are looked for."""
        return self.items(FAILURES_PROTOCOL)

    def protocol_perturbed_items(self, protocol: str) -> list[str]:
        """Return the tables of perturbed items that a protocol is about."""
        return self.perturbed_items() if "perturbed" in self.protocols[protocol].data.source else []

    def protocol_perturbed_pairs(self, protocol: str) -> list[str]:
        """Return the tables of the pairs of a perturbed item and its original that a protocol is about."""
        return self.perturbed_pairs() if "perturbed" in self.protocols[protocol].data.source else []

    def requests(self, judge: str, protocol: str) -> str:
        """Return the requests to a judge: all of a protocol, or those that a cascade's first judge is unsure of."""
        cascade = self.cascades.get(protocol)
        if cascade and cascade.then == judge:
            return self.CASCADE_REQUESTS.format(protocol=protocol)
        return self.REQUESTS.format(protocol=protocol)

    def responses(self, judge: str, protocol: str) -> list[str]:
        """Return the responses of a judge under a protocol, one table per shard."""
        shards = self.shards(judge)
        names = {"judge": judge, "protocol": protocol, "shards": len(shards)}
        return [self.RESPONSES.format(shard=shard, **names) for shard in shards]

    def retried(self, judge: str, protocol: str) -> list[str]:
        """Return the responses to a judge's retries; none where the protocol has none or the judge is published."""
        if protocol not in self.retried_protocols or judge in self.published:
            return []
        return [self.RETRIED.format(judge=judge, protocol=protocol)]

    def planned_examinations(self) -> list[str]:
        """Return the requests of DialogBench by every method, whether or not a model answers by it."""
        return [self.EXAMINATION_REQUESTS.format(method=method) for method in Examine.model_fields]

    def examination_requests(self) -> list[str]:
        """Return the requests of DialogBench, by method."""
        methods = dict.fromkeys(method for _, method in self.examined)
        return [self.EXAMINATION_REQUESTS.format(method=method) for method in methods]

    def examination_responses(self) -> list[str]:
        """Return the responses of all examined models under their methods of DialogBench."""
        return [path for name, method in self.examined for path in self.responses(name, f"dialogbench_{method}")]

    # translations as requests

    @cached_property
    def quality_requests(self) -> dict[str, tuple[str, str, str, list[str]]]:
        """Return the subjects of the requests about translations, by name.

        The parts are `back` or `adequacy`, the corpus, the language, and the models.
        """
        return {
            f"{kind}-{corpus}-{language}": (kind, corpus, language, models)
            for corpus, settings in self.config.translate.items()
            if settings.quality
            for language in settings.into
            for kind, models in (
                ("back", [settings.quality.back] if settings.quality.back else []),
                ("adequacy", settings.quality.judges),
            )
            if models
        }

    @cached_property
    def translating_models(self) -> dict[str, list[str]]:
        """Return the models that get requests about translations, by the requests' name."""
        translators = {
            name: [self.config.translate[corpus].translator] for name, (corpus, _) in self.translated.items()
        }
        return translators | {name: models for name, (*_, models) in self.quality_requests.items()}

    @cached_property
    def translators(self) -> list[str]:
        """Return the models that translate, translate back, or judge translations."""
        names = [settings.translator for settings in self.config.translate.values()]
        return list(dict.fromkeys(names + [name for *_, models in self.quality_requests.values() for name in models]))

    def translation_responses(self, corpus: str, language: str) -> list[str]:
        """Return the translations of a corpus as its model answered."""
        return self.responses(self.config.translate[corpus].translator, f"translate-{corpus}-{language}")

    def back_translation_responses(self, corpus: str, language: str) -> list[str]:
        """Return the translations back of a sample as their model answered."""
        quality = self.config.translate[corpus].quality
        assert quality
        assert quality.back
        return self.responses(quality.back, f"back-{corpus}-{language}")

    def back_responses(self) -> list[str]:
        """Return all translations back as models answered."""
        return self._quality_responses("back")

    def adequacy_responses(self) -> list[str]:
        """Return all responses about the adequacy of translations."""
        return self._quality_responses("adequacy")

    def _quality_responses(self, kind: str) -> list[str]:
        return [
            path
            for name, (requests, _, _, models) in self.quality_requests.items()
            if requests == kind
            for model in models
            for path in self.responses(model, name)
        ]

    # completions as requests

    @property
    def completers(self) -> list[str]:
        """Return the models that complete texts."""
        return self._completion.models if self._completion else []

    @cached_property
    def completing_models(self) -> dict[str, list[str]]:
        """Return the models that complete texts, by the requests' name."""
        return {f"{COMPLETE}-{corpus}": self.completers for corpus in self.completed_corpora}

    @property
    def completed_corpora(self) -> list[str]:
        """Return the corpora whose texts are completed, controls last."""
        return list(dict.fromkeys([*self._completion.corpora, *self._completion.control])) if self._completion else []

    @property
    def _completion(self) -> Memorization | None:
        return self.config.memorization

    def completed_sources(self) -> list[str]:
        """Return the tables whose texts are completed."""
        return [self.source_table(corpus) for corpus in self.completed_corpora]

    def completion_responses(self) -> list[str]:
        """Return all responses that complete texts."""
        return [
            path
            for name, models in self.completing_models.items()
            for model in models
            for path in self.responses(model, name)
        ]

    # judgements

    def judgements(self, protocol: str) -> list[str]:
        """Return the judgements under a protocol, by each judge and ensemble."""
        return [self.JUDGEMENTS.format(judge=judge, protocol=protocol) for judge in self.config.judging(protocol)]

    def judgements_of(self, protocols: Iterable[str]) -> list[str]:
        """Return the judgements under some protocols."""
        return [path for protocol in protocols for path in self.judgements(protocol)]

    def first_judgements(self, protocol: str) -> str:
        """Return the judgements of a cascade's first judge alone."""
        return self.JUDGEMENTS.format(judge=self.cascades[protocol].first, protocol=protocol)

    def second_judgements(self, protocol: str) -> str:
        """Return the judgements of a cascade's second judge alone."""
        return self.JUDGEMENTS.format(judge=self.cascades[protocol].then, protocol=protocol)

    def member_judgements(self, ensemble: str, method: str) -> list[str]:
        """Return the judgements of an ensemble's members."""
        members = self.ensembles[ensemble][method]
        return [
            self.JUDGEMENTS.format(judge=judge, protocol=own)
            for judge, protocols in members.items()
            for own in protocols
        ]

    def rounds(self, protocol: str) -> list[str]:
        """Return the rounds of all judges of an adaptive protocol; published responses have none."""
        judges = [judge for judge in self.config.judges_of(protocol) if judge not in self.published]
        return [self.ROUNDS.format(judge=judge, protocol=protocol) for judge in judges]

    def judged_scores(self) -> list[str]:
        """Return the scores of items by all judges, and by ensembles of judges."""
        return self._scores_by_judges(self._item_scoring) + self._ensemble_scores(with_files=False)

    def repeated_scores(self) -> list[str]:
        """Return the scores of items by the judges that score each more than once."""
        return self._scores_by_judges({name: one for name, one in self._item_scoring.items() if one.repeats > 1})

    def all_scores(self) -> list[str]:
        """Return the scores of items by all judges, the user's files of scores, and all ensembles."""
        read = [self.SCORE_JUDGEMENTS.format(metric=metric) for metric in self.config.score_files]
        return self.judged_scores() + read + self._ensemble_scores(with_files=True)

    @cached_property
    def _item_scoring(self) -> dict[str, Protocol]:
        named = self.protocols.items()
        return {name: one for name, one in named if one.form in SCORING_FORMS and self.is_about_items(one)}

    def _scores_by_judges(self, protocols: Iterable[str]) -> list[str]:
        return [
            self.JUDGEMENTS.format(judge=judge, protocol=protocol)
            for protocol in protocols
            for judge in self.config.judging(protocol)
            if judge not in self.config.ensembles
        ]

    def _ensemble_scores(self, with_files: bool) -> list[str]:
        return [
            self.ENSEMBLE_JUDGEMENTS.format(ensemble=ensemble, method=method)
            for ensemble, methods in self.ensembles.items()
            for method, members in methods.items()
            if method not in self.protocols or self.is_about_items(self.protocols[method])
            if with_files == (["file"] in members.values())
        ]

    # DialogBench

    @cached_property
    def item_makers(self) -> dict[str, str | None]:
        """Return the models that write, filter and describe test items, by part; None where rules do."""
        section = self.config.dialogbench
        written = section.written if section else None
        return {
            "writing": written.writer if written else None,
            "filter": written.filter if written else None,
            "classification": section.classifier if section else None,
        }

    def item_usage(self, part: str) -> str:
        """Return the record of the model that writes, filters or describes test items.

        The name is the same for every model: Snakemake finds changed settings only where it knows all outputs.
        """
        return self.ITEM_USAGE.format(part=part)

    def item_dialogues(self) -> list[str]:
        """Return the dialogues that rules make test items of."""
        return self.corpora_of(self.config.dialogbench.corpora() if self.config.dialogbench else [])

    def written_items(self) -> list[str]:
        """Return the written test items, filtered if there is a filter."""
        written = self.config.dialogbench.written if self.config.dialogbench else None
        if not written:
            return []
        return [self.FILTERED_TEST_ITEMS if written.filter else self.WRITTEN_TEST_ITEMS]

    def descriptions(self) -> list[str]:
        """Return the descriptions of written dialogues, if a model classifies them."""
        return [self.DESCRIPTIONS] if self.item_makers["classification"] else []

    @cached_property
    def examined(self) -> list[tuple[str, str]]:
        """Return every model that takes the test, with the method by which it answers."""
        methods = self.config.dialogbench.examine.by_method() if self.config.dialogbench else {}
        return [(name, method) for method, names in methods.items() for name in names]

    def test_answers(self) -> list[str]:
        """Return the options that examined models chose."""
        return [self.TEST_ANSWERS.format(model=name, method=method) for name, method in self.examined]

    def expert_answers(self) -> list[str]:
        """Return the answers of experts to test items, if there are any."""
        return [self.EXPERT_ANSWERS] if self.config.expert_answers() else []

    def expert_sheet(self) -> list[str]:
        """Return the digest of the sheet for experts, if there are any."""
        experts = self.config.dialogbench.experts if self.config.dialogbench else None
        return [self.EXPERT_SHEET_DIGEST] if experts else []

    # records of models' usage

    def chat_usage(self, chatbot: str, shard: object, shards: object) -> list[str]:
        """Return the records of a job of self-chat: of the chatbot, and of the simulated user if there is one."""
        named = {"chatbot": chatbot, "shard": shard, "shards": shards}
        partner = [self.PARTNER_USAGE.format(partner=self.partner, **named)] if self.partner else []
        return [self.CHATBOT_USAGE.format(**named), *partner]

    def usage(self) -> list[str]:
        """Return the records of all jobs that ask models."""
        chats = [
            record
            for name in self.config.chatbots
            if name not in self.published
            for shard in self.shards(name)
            for record in self.chat_usage(name, shard, len(self.shards(name)))
        ]
        repeated = [
            self.RETRIED_USAGE.format(judge=name, protocol=protocol)
            for protocol in self.retried_protocols
            for name in self.config.judges_of(protocol)
            if name not in self.published
        ]
        rewriting = [self.REWRITER_USAGE.format(model=name) for name in self.rewriters if self.perturbed_pairs()]
        making = [self.item_usage(part) for part, name in self.item_makers.items() if name]
        examining = [path for name, method in self.examined for path in self._usage(name, f"dialogbench_{method}")]
        judging = [
            path
            for protocol in self.protocols
            for name in self.config.judges_of(protocol)
            for path in self._usage(name, protocol)
        ]
        translating = [
            path
            for protocol, models in {**self.translating_models, **self.completing_models}.items()
            for name in models
            for path in self._usage(name, protocol)
        ]
        return chats + making + examining + repeated + rewriting + judging + translating

    def _usage(self, name: str, protocol: str) -> list[str]:
        if name in self.published:
            return []
        shards = self.shards(name)
        named = {"judge": name, "protocol": protocol, "shards": len(shards)}
        return [self.USAGE.format(shard=shard, **named) for shard in shards]

    def called_models(self) -> list[str]:
        """Return the models that chat, judge, translate or take the test and are not published."""
        partner = [self.partner] if self.partner else []
        names = [
            *self.config.chatbots,
            *partner,
            *self.config.judges,
            *self.config.protocol_judges(),
            *self.translators,
            *(self._completion.models if self._completion else ()),
            *(name for name, _ in self.examined),
        ]
        return [name for name in dict.fromkeys(names) if name not in self.published]

"""The whole configuration: its sections, the files that it names, and what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, ValidationInfo, model_validator

from dialeval.config.botchat import Arena, UniEval
from dialeval.config.consistency import PARTS, inconsistencies, published_systems
from dialeval.config.criteria import protocol_criteria
from dialeval.config.ensembles import FILE, members_by_method
from dialeval.config.fields import Fields
from dialeval.config.metaeval import PACKAGE, RatedCorpus, ScoreFile
from dialeval.config.models import EmbeddedModel, PublishedModel
from dialeval.config.protocol_settings import PERTURBED, RATED, Protocol
from dialeval.config.protocols import resolved
from dialeval.config.section import Mistakes
from dialeval.criteria import FAILURES, FAILURES_BY_RULE, SHIPPED, Criterion
from dialeval.criteria import FAILURES_PROTOCOL as OF_FAILURES


class WithFiles(Fields):
    """A configuration with the places of its files."""

    @property
    def rated_corpora(self) -> dict[str, RatedCorpus]:
        """Return the rated corpora, by name."""
        return self.metaeval.corpora if self.metaeval else {}

    @property
    def score_files(self) -> dict[str, ScoreFile]:
        """Return the files of other metrics' scores, by name."""
        return self.metaeval.score_files if self.metaeval else {}

    def item_path(self, name: str) -> Path:
        """Return where published test items lie."""
        assert self.dialogbench
        return self._in_data_dir(self.dialogbench.published[name].path)

    def expert_answers(self) -> Path | None:
        """Return the file of experts' answers to test items, if there is one."""
        experts = self.dialogbench.experts if self.dialogbench else None
        return self._in_data_dir(experts.answers) if experts and experts.answers else None

    def published_perturbations(self) -> Path | None:
        """Return the folder of the published perturbed sets."""
        path = self.robustness.published if self.robustness else None
        return None if path is None else self._in_data_dir(path)

    def wordnet(self) -> Path | None:
        """Return the folder of WordNet, or the word `package`."""
        path = self.robustness.wordnet if self.robustness else None
        return path if path is None or str(path) == PACKAGE else self._in_data_dir(path)

    def scenarios_path(self) -> Path | None:
        """Return the path of the table of scenarios, if there is one."""
        return None if self.selfchat.scenarios is None else self._in_data_dir(self.selfchat.scenarios.path)

    def rated_path(self, name: str) -> Path | None:
        """Return where a rated corpus lies, or None for our own."""
        path = self.rated_corpora[name].path
        return None if path is None else self._in_data_dir(path)

    def score_path(self, name: str) -> Path:
        """Return where a file of ready scores lies."""
        return self._in_data_dir(self.score_files[name].path)

    def answer_files(self, judge: str) -> dict[str, Path | None]:
        """Return the files that the protocols need of a published judge, by field; None for an unset field."""
        model, protocols = self.models.get(judge), self.protocols
        if not isinstance(model, PublishedModel):
            return {}
        files: dict[str, Path | None] = {}
        if protocols.unieval:
            files["unieval"] = model.unieval
        if protocols.gteval:
            files["gteval"] = model.gteval
        for n in protocols.arena.n_utterances if protocols.arena else []:
            files[f"arena.{n}"] = (model.arena or {}).get(n)
        return files

    def published_dialogues(self, chatbot: str) -> Path | None:
        """Return where a published chatbot's dialogues lie."""
        model = self.models.get(chatbot)
        path = model.dialogues if isinstance(model, PublishedModel) else None
        return None if path is None else self._in_data_dir(path)

    def published_answers(self, judge: str, protocol: str) -> list[Path]:
        """Return the files of a published judge's responses: one file; for Arena one per N, in order."""
        files = self.answer_files(judge).items()
        return [self._in_data_dir(path) for field, path in files if path and field.split(".")[0] == protocol]

    def published_sources(self) -> dict[str, Path]:
        """Return all files that published models in use are read from, by field."""
        sources = {f"models.{name}.dialogues": self.published_dialogues(name) for name in self.chatbots}
        for name in self.judges:
            for field, path in self.answer_files(name).items():
                sources[f"models.{name}.{field}"] = path and self._in_data_dir(path)
        return {field: path for field, path in sources.items() if path is not None}

    def corpus_path(self, name: str) -> Path | None:
        """Return where a corpus lies, or None for a bundled one."""
        path = self.corpora[name].path
        return None if path is None else self._in_data_dir(path)

    def transcripts_path(self, name: str) -> Path:
        """Return where transcripts lie."""
        return self._in_data_dir(self.transcripts[name].path)

    def battles_path(self, name: str) -> Path:
        """Return where a table of battles lies."""
        return self._in_data_dir(self.battles[name].path)

    def _in_data_dir(self, path: Path) -> Path:
        return self.data_dir.expanduser() / path.expanduser()


WITHOUT_CHATBOTS: dict[str, Any] = {
    "models": {}, "corpora": {"bundled": {"reader": "bundled"}}, "seeds": {"corpus": "bundled"}
}  # fmt: skip
"""What a configuration without chatbots need not say."""


class Config(WithFiles):
    """The configuration of a run."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [],
            "anyOf": [{"required": [one]} for one in ("models", "battles", "transcripts")],
        }
    )

    @model_validator(mode="before")
    @classmethod
    def _parts_stand_alone(cls, raw: Any) -> Any:
        """Fill in defaults: corpora and seeds without chatbots, protocols with judges."""
        if not isinstance(raw, Mapping):
            return raw
        if raw.get("chatbots"):
            chat = raw.get("selfchat")
            if isinstance(chat, Mapping) and chat.get("scenarios"):
                raw = {**_instead_of_seeds(raw), **raw}
            needs_protocols = "protocols" not in raw and raw.get("judges")
            return {**raw, "protocols": _botchat_protocols(raw.get("selfchat"))} if needs_protocols else raw
        alone = any(raw.get(part) for part in PARTS) or (raw.get("battles") and "models" not in raw)
        return {**WITHOUT_CHATBOTS, **_instead_of_seeds(raw), **raw} if alone else raw

    @model_validator(mode="after")
    def _fits_together(self, info: ValidationInfo) -> Self:
        if not (info.context or {}).get("parts_alone") and (found := list(inconsistencies(self))):
            raise Mistakes(found)
        return self

    def in_order(self) -> Self:
        """Return the configuration with its chatbots by name: another order of them makes the same run."""
        return self.model_copy(update={"chatbots": sorted(self.chatbots)})

    def resolved_protocols(self) -> dict[str, Protocol]:
        """Return every configured protocol by name, the shipped ones with the options of their sections."""
        return resolved(self)

    def criteria_of(self, protocol: str) -> list[Criterion]:
        """Return the criteria that a protocol names, in its order; names that are defined nowhere are left out."""
        known = {**SHIPPED, **FAILURES, **{name: one.criterion(name) for name, one in self.criteria.items()}}
        found = self.resolved_protocols().get(protocol)
        return [known[name] for name in found.criteria if name in known] if found else []

    def known_criteria(self) -> list[str]:
        """Return the names of all criteria: the papers' and the user's."""
        return [*SHIPPED, *self.criteria]

    def own_criteria(self, names: Collection[str]) -> list[Criterion]:
        """Return those of the user's criteria that are among some names."""
        return [one.criterion(name) for name, one in self.criteria.items() if name in names]

    def protocol_criteria(self, protocol: str) -> list[Criterion]:
        """Return the user's criteria that a protocol may ask about."""
        found = self.resolved_protocols().get(protocol)
        return protocol_criteria(self, found) if found else []

    def sensitivities(self, strategies: Collection[str] | None = None) -> dict[str, list[str]]:
        """Return the perturbations that lower the user's criteria, restricted to some; None for all."""
        lowered = {
            name: [strategy for strategy in one.sensitive_to if strategies is None or strategy in strategies]
            for name, one in self.criteria.items()
        }
        return {name: lowering for name, lowering in lowered.items() if lowering}

    def judges_of(self, protocol: str) -> list[str]:
        """Return the models that judge under a protocol; none if it is not configured."""
        found = self.resolved_protocols().get(protocol)
        return list(found.judges or ()) if found else []

    def protocol_judges(self) -> list[str]:
        """Return every model that judges under some protocol."""
        return list(dict.fromkeys(name for found in self.resolved_protocols().values() for name in found.judges or ()))

    def ensemble_methods(self) -> dict[str, dict[str, dict[str, list[str]]]]:
        """Return by ensemble and method its members' methods."""
        return {name: members_by_method(self, name) for name in self.ensembles}

    def ensembles_of(self, protocol: str) -> list[str]:
        """Return the ensembles that judge under a protocol; ensembles with score files score rated items only."""
        methods = self.ensemble_methods()
        return [
            name
            for name, members in methods.items()
            if protocol in members and [FILE] not in members[protocol].values()
        ]

    def judging(self, protocol: str) -> list[str]:
        """Return whose judgements are tabled: judges that judge everything, cascades as one, ensembles, and rules."""
        found = self.resolved_protocols().get(protocol)
        cascade = found.cascade if found else None
        complete = [name for name in self.judges_of(protocol) if cascade is None or name != cascade.then]
        rules = [FAILURES_BY_RULE] if found and protocol == OF_FAILURES else []
        return [*complete, *([cascade.name] if cascade else []), *self.ensembles_of(protocol), *rules]

    def talks(self) -> bool:
        """Return whether the run has self-chat: chatbots, or no other data."""
        return bool(self.models) and (bool(self.chatbots) or not any(getattr(self, part) for part in PARTS))

    def models_in_use(self) -> list[str]:
        """Return every model that chats, judges, scores, rewrites, writes items or is examined."""
        rewriter = [self.robustness.rewriter] if self.robustness and self.robustness.rewriter else []
        partner = [self.selfchat.partner] if self.selfchat.partner else []
        translators = [name for used in self.translate.values() for name in used.models()]
        completing = self.memorization.models if self.memorization else []
        judges = [*self.judges, *self.protocol_judges()]
        used = [*self.chatbots, *partner, *judges, *rewriter, *translators, *completing, *self.dialogbench_models()]
        return list(dict.fromkeys(used))

    def models_before_planning(self, protocol: str) -> list[str]:
        """Return the models that must answer, and may be paid, before a protocol's requests can be planned."""
        written = self.dialogbench.written if self.dialogbench else None
        found = self.resolved_protocols().get(protocol)
        names: list[str | None] = []
        if protocol.startswith("dialogbench") and written:
            names = [written.writer, written.filter]
        elif found and self.robustness and PERTURBED in found.data.source:
            names = [self.robustness.rewriter]
        if found:
            translated = [
                name for name in self.translate if name in self.rated_corpora and {RATED, name} & {*found.data.source}
            ]
            names += [self.translate[name].translator for name in translated]
        return list(dict.fromkeys(name for name in names if name and not isinstance(self.models[name], EmbeddedModel)))

    def dialogbench_models(self) -> list[str]:
        """Return every model that writes, filters, describes or answers test items."""
        parts = self.dialogbench.models().values() if self.dialogbench else ()
        return list(dict.fromkeys(name for names in parts for name in names))

    def sources(self) -> dict[str, object]:
        """Return all corpora whose items can be perturbed: of dialogues, and rated ones."""
        return {**self.corpora, **self.rated_corpora}

    def perturbed_corpora(self) -> list[str]:
        """Return the corpora of dialogues to perturb."""
        return [name for name in (self.robustness.corpora if self.robustness else []) if name in self.corpora]

    def perturbed_rated_corpora(self) -> list[str]:
        """Return the rated corpora whose items are perturbed."""
        return [name for name in (self.robustness.corpora if self.robustness else []) if name not in self.corpora]

    def strategies_named(self) -> dict[str, list[str]]:
        """Return the perturbations that the configuration names, by field."""
        named: dict[str, list[str]] = {}
        if self.robustness:
            named["robustness.perturbations"] = self.robustness.perturbations or []
            named["robustness.rewritten"] = self.robustness.rewritten or []
            named["robustness.severity_levels.perturbations"] = (
                self.robustness.severity_levels.perturbations if self.robustness.severity_levels else []
            )
        for name, rated in self.rated_corpora.items():
            if rated.reader == "severity_levels":
                named[f"metaeval.corpora.{name}.perturbations"] = rated.perturbations
        named |= {
            f"criteria.{name}.sensitive_to": one.sensitive_to for name, one in self.criteria.items() if one.sensitive_to
        }
        return named

    def published_systems(self) -> dict[str, str]:
        """Return the papers' system of each judge that is not matched by its own name; empty if it has none."""
        return published_systems(self)

    def partner_is_embedded(self) -> bool:
        """Return whether the simulated user is an embedded model, which cannot speak first."""
        return isinstance(self.models.get(self.selfchat.partner or ""), EmbeddedModel)

    def families(self) -> dict[str, str]:
        """Return the family of every model that chats or judges."""
        return {name: self.models[name].family or name for name in (*self.chatbots, *self.judges)}

    def used_corpora(self) -> list[str]:
        """Return the corpora that the seeds come from or that an embedded model in use learns from."""
        ladders = [one.dialogues for one in self.rated_corpora.values() if one.reader == "severity_levels"]
        used = {self.seeds.corpus, *self.perturbed_corpora(), *ladders}
        used.update(self.dialogbench.corpora() if self.dialogbench else [])
        for name in self.models_in_use():
            model = self.models.get(name)
            if isinstance(model, EmbeddedModel):
                used.update(model.learn_from)
        used.update(self.people_of_failures())
        used.update(corpus for name in self.made_training() for corpus in self.training[name].corpora())
        return sorted(used)

    def people_of_failures(self) -> list[str]:
        """Return the corpora whose human utterances set the length limit of the rules for failures."""
        failures = self.protocols.failures
        return [] if failures is None else failures.human_corpora or [self.seeds.corpus]

    def made_training(self) -> list[str]:
        """Return the training sets to make: those in use, or all if no model learns."""
        return self.used_training() or list(self.training)

    def used_training(self) -> list[str]:
        """Return the training sets that a model in use learns from, as far as they are defined."""
        learning = (self.models.get(name) for name in self.models_in_use())
        named = {name for model in learning if model for name in model.learns_from}
        return [name for name in self.training if name in named]


def _instead_of_seeds(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default corpora and seeds of a run that needs none."""
    corpora = raw.get("corpora") or WITHOUT_CHATBOTS["corpora"]
    return {"corpora": corpora, "seeds": {"corpus": next(iter(corpora))}} if isinstance(corpora, Mapping) else {}


def _botchat_protocols(selfchat: object) -> dict[str, Any]:
    """Return BotChat's protocols at the paper's lengths, as far as dialogues are that long."""
    chat = selfchat if isinstance(selfchat, Mapping) else {}
    longest = chat.get("n_utterances", 16)
    lengths: dict[str, list[int]] = {
        name: section.model_fields["n_utterances"].default for name, section in (("unieval", UniEval), ("arena", Arena))
    }
    if isinstance(longest, int) and not isinstance(longest, bool) and longest >= 3:
        lengths = {name: [n for n in all_n if n <= longest] or [longest] for name, all_n in lengths.items()}
    return {**{name: {"n_utterances": all_n} for name, all_n in lengths.items()}} | (
        {} if chat.get("scenarios") else {"gteval": {}}  # it has no human dialogues
    )

"""All protocols: the papers' as shipped, and checks of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ConfigDict, Field

from dialeval.config.botchat import Arena, Failures, GTEval, UniEval
from dialeval.config.metaeval import Rating, YesNo
from dialeval.config.models import EmbeddedModel, EncoderModel, PublishedModel
from dialeval.config.protocol_settings import (
    EACH_OTHER,
    MEASURES,
    PARTS,
    PERTURBED,
    RANKS,
    RATED,
    SELFCHAT,
    SOURCES,
    Protocol,
    folded_option,
)
from dialeval.config.section import Mistake, Name, Section
from dialeval.criteria import FAILURES, Criterion, with_own
from dialeval.criteria import SHIPPED as PAPERS
from dialeval.errors import nearest
from dialeval.tables.dialogues import Form

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


class Protocols(Section):
    """The evaluations to run; leave one out to skip it. Any other name is a protocol of your own, see below."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Name, Protocol] = Field(init=False)

    unieval: UniEval | None = None
    arena: Arena | None = None
    gteval: GTEval | None = None
    rating: Rating | None = None
    yes_no: YesNo | None = None
    failures: Failures | None = None

    @property
    def own(self) -> dict[str, Protocol]:
        """Return the user's own protocols by name."""
        return self.__pydantic_extra__


SHIPPED_FOLDER = Path(__file__).parents[1] / "protocols" / "shipped"
SHIPPED = tuple(Protocols.model_fields)
"""The protocols whose data are shipped, in the order in which everything lists them."""


TEMPLATES: dict[Form, str] = {"pair": "pair.j2", "locate": "locate.j2", "annotate": "annotate.j2"}
"""The template of a user's own protocol that names none; items have one for each of their levels."""


_UNASKED: dict[Form, tuple[type, ...]] = {
    "scale": (EncoderModel,),
    "annotate": (EncoderModel, EmbeddedModel, PublishedModel),
}
"""Models that cannot answer a form, and are left out where a protocol names no judges."""


def resolved(config: Config) -> dict[str, Protocol]:
    """Return every configured protocol by name, shipped ones first, with their judges."""
    found = {
        name: _with_options(shipped(name), dict(section), config)
        for name in SHIPPED
        if (section := getattr(config.protocols, name)) is not None
    }
    return {name: _filled_in(protocol, config) for name, protocol in {**found, **config.protocols.own}.items()}


@cache
def shipped(name: str) -> Protocol:
    """Return a shipped protocol with default settings."""
    path = SHIPPED_FOLDER / f"{name}.yaml"
    return Protocol.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def asks(config: Config, protocol: Protocol) -> bool:
    """Return whether a protocol has any items."""
    chats = bool(config.chatbots)
    if protocol.form in ("locate", "annotate"):
        chats = config.talks()
    elif protocol.form == "pair" and protocol.data.opponent == EACH_OTHER:
        chats = len(config.chatbots) > 1
    there = {SELFCHAT: chats, RATED: bool(config.metaeval), PERTURBED: bool(config.robustness)}
    return any(there.get(source, True) for source in protocol.data.source)


def _filled_in(protocol: Protocol, config: Config) -> Protocol:
    judges = protocol.judges
    if judges is None:  # a trained encoder writes no ratings; with requests for verdicts, it is refused
        unfit = _UNASKED.get(protocol.form, ())
        judges = [name for name in config.judges if not isinstance(config.models.get(name), unfit)]
    if protocol.measures and not judges and "agreement" in protocol.measures:  # rules alone agree with no judge
        protocol = protocol.model_copy(update={"measures": [one for one in protocol.measures if one != "agreement"]})
    template = protocol.template or TEMPLATES.get(protocol.form)
    return protocol.model_copy(update={"judges": judges, "template": template})


def _with_options(protocol: Protocol, options: dict[str, Any], config: Config) -> Protocol:
    """Return a shipped protocol with the options that its section of the configuration has."""
    if protocol.form == "annotate":
        return _of_failures(protocol, options)
    lengths = options.pop("n_utterances", None)
    if protocol.form == "pair":
        needed = None if config.selfchat.scenarios else config.seeds.arena_min_utterances
        cut = {"n_utterances": lengths} if lengths and protocol.data.opponent == EACH_OTHER else {}
        data = protocol.data.model_copy(update=cut | {"human_utterances": needed})
        options["data"] = data
    elif lengths:
        options["n_utterances"] = lengths
    if config.selfchat.scenarios and protocol.measures:  # behind scenarios there are no human dialogues
        options["measures"] = [name for name in protocol.measures if name != "pass_rates_at_gt_length"]
    return protocol.model_copy(update=options)


def _of_failures(protocol: Protocol, options: dict[str, Any]) -> Protocol:
    """Return the protocol of failures with its options, but for those of the rules, which make no model calls."""
    for of_rules in ("length_share", "human_corpora"):
        del options[of_rules]
    chosen, source = options.pop("criteria"), options["data"].source
    data = protocol.data.model_copy(update={"source": source})
    return protocol.model_copy(update={**options, "data": data, "criteria": chosen})


# Checks of a user's protocols

OF_FORMS: dict[str, tuple[Form, ...]] = {
    "options": ("pair",), "both_orders": ("pair",), "adaptive": ("pair",),
    "criteria_in_one_request": ("scale",), "n_utterances": ("locate",),
    **dict.fromkeys(
        (
            "repeats", "temperature", "top_p", "max_tokens", "presence_penalty", "frequency_penalty", "retry_unparsed",
            "answers",
        ),
        ("scale", "pair", "locate", "annotate"),
    ),
}  # fmt: skip
"""Options that not every form has."""
OF_PAIRS = ("n_utterances", "opponent", "human_utterances")


def unfit_protocols(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the user's own protocols, by themselves and beside other sections."""
    own = config.protocols.own
    criteria = with_own(one.criterion(name) for name, one in config.criteria.items())
    for name, protocol in own.items():
        field = f"protocols.{name}"
        yield from _name(name, own)
        yield from _foreign_options(field, protocol)
        yield from _sources(field, protocol, config)
        yield from _systems(field, protocol, config)
        yield from _options(field, protocol)
        yield from _measures(field, protocol)
        yield from _measures_of_scores(field, protocol, criteria)
        if protocol.form == "annotate" and not protocol.criteria:
            yield Mistake(f"{field}.criteria", "form annotate needs criteria; name them under criteria")
        of_form = [*FAILURES] if protocol.form in ("annotate", "locate") else []
        for criterion in protocol.criteria:
            if criterion not in (known := [*config.known_criteria(), *of_form]):
                words = f"'{criterion}' is not a criterion; {nearest(criterion, known)}"
                yield Mistake(f"{field}.criteria", words, (f"criteria.{criterion}",))


def _name(name: str, own: Collection[str]) -> Iterator[Mistake]:
    taken = [*SHIPPED, *PARTS]
    if name.lower() in taken:
        kind = "a shipped protocol, in lower case" if name.lower() in SHIPPED else "a part of the run"
        yield Mistake(f"protocols.{name}", f"'{name}' is the name of {kind}; choose another name")
    for other in own:
        if other < name and other.lower() == name.lower():
            words = f"'{other}' and '{name}' differ only in case, and some file systems ignore case; rename one"
            yield Mistake(f"protocols.{name}", words)


def _foreign_options(field: str, protocol: Protocol) -> Iterator[Mistake]:
    given = protocol.model_fields_set
    for option, forms in OF_FORMS.items():
        if option in given and protocol.form not in forms:
            remedy = "write it under data" if (option, protocol.form) == ("n_utterances", "pair") else "remove it"
            words = f"form {protocol.form} has no such option (only form {' or '.join(forms)} has it); {remedy}"
            yield Mistake(f"{field}.{option}", words)
    if "turns" in protocol.data.model_fields_set and protocol.form not in ("scale", "probability"):
        yield Mistake(
            f"{field}.data.turns",
            f"form {protocol.form} has no such option (only form scale or probability has it); remove it",
        )
    if protocol.form != "pair":
        for option in OF_PAIRS:
            if option in protocol.data.model_fields_set:
                yield Mistake(
                    f"{field}.data.{option}",
                    f"form {protocol.form} has no such option (only form pair has it); remove it",
                )


def _sources(field: str, protocol: Protocol, config: Config) -> Iterator[Mistake]:
    rated = config.rated_corpora
    known = [*SOURCES, *config.transcripts, *rated]
    lacks = {
        SELFCHAT: None if config.chatbots else "no chatbots are named; name them under chatbots",
        RATED: None if config.metaeval else "no corpora are rated; name them under metaeval.corpora",
        PERTURBED: None if config.robustness else "the run has no perturbed items; write a section robustness",
    }
    for source in protocol.data.source:
        missing = lacks.get(source)
        if source == "damaged" and source not in known:
            yield Mistake(f"{field}.data.source", f"'damaged' has a new name; write {PERTURBED}")
        elif source not in known:
            words = f"'{source}' is not a source; {nearest(source, known)} (your own are under transcripts)"
            yield Mistake(f"{field}.data.source", words, (f"transcripts.{source}", f"metaeval.corpora.{source}"))
        elif missing:
            yield Mistake(f"{field}.data.source", missing, ("chatbots", "metaeval", "robustness"))
        elif protocol.form in ("pair", "locate", "annotate") and (source in rated or source in (RATED, PERTURBED)):
            words = (
                f"form {protocol.form} is about systems, and '{source}' has none; use selfchat or a name under "
                f"transcripts, or form scale or probability"
            )
            yield Mistake(f"{field}.data.source", words)


def _systems(field: str, protocol: Protocol, config: Config) -> Iterator[Mistake]:
    if protocol.form != "pair" or protocol.data.source != [SELFCHAT] or not config.chatbots:
        return
    opponent, chatbots = protocol.data.opponent, config.chatbots
    related = ("chatbots",)
    if opponent == "human":
        return
    if len(chatbots) < 2:
        words = f"a pair needs two systems, and '{chatbots[0]}' is the only chatbot; name another, or `opponent: human`"
        yield Mistake(f"{field}.data.opponent", words, related)
    elif opponent != EACH_OTHER and opponent not in chatbots:
        words = f"'{opponent}' is not one of the chatbots; {nearest(opponent, [EACH_OTHER, 'human', *chatbots])}"
        yield Mistake(f"{field}.data.opponent", words, related)
    for n in protocol.data.n_utterances:
        if n > config.selfchat.n_utterances:
            words = (
                f"{n} is longer than the dialogues; lower it, or raise selfchat.n_utterances (now "
                f"{config.selfchat.n_utterances})"
            )
            yield Mistake(f"{field}.data.n_utterances", words, ("selfchat",))


def _options(field: str, protocol: Protocol) -> Iterator[Mistake]:
    options = protocol.options
    if protocol.form != "pair" or not options:
        return
    for side in ("left", "right"):
        if side not in options.values():
            place = "first" if side == "left" else "second"
            words = (
                f"no option has the outcome {side}, a win of the dialogue shown {place}; give one option this "
                "outcome: {A: left, B: right}"
            )
            yield Mistake(f"{field}.options", words)
    yield from _unreadable(f"{field}.options", options)


def _unreadable(field: str, options: Mapping[str, object]) -> Iterator[Mistake]:
    """Yield options that a response cannot name, or cannot distinguish from another."""
    read: dict[str, str] = {}
    for label in options:
        if not folded_option(label):
            yield Mistake(
                field, f"{label!r} has no letter or digit by which an answer could name it; choose another option"
            )
        elif (other := read.setdefault(folded_option(label), label)) != label:
            yield Mistake(
                field,
                f"'{other}' and '{label}' are the same option, since case and punctuation of responses are ignored; "
                f"choose other options",
            )


def _measures(field: str, protocol: Protocol) -> Iterator[Mistake]:
    for measure in protocol.measures or ():
        if measure not in MEASURES[protocol.form]:
            words = (
                f"form {protocol.form} does not have the measure {measure}; it has {', '.join(MEASURES[protocol.form])}"
            )
            yield Mistake(f"{field}.measures", words)
        elif protocol.form == "locate" and measure.startswith("pass_rates") and protocol.criteria:
            yield Mistake(f"{field}.measures", f"{measure} needs a protocol without criteria; with criteria, use rates")
        elif protocol.form == "locate" and measure == "rates" and not protocol.criteria:
            yield Mistake(f"{field}.measures", "rates needs criteria; name them under criteria, or use pass_rates")
        elif measure == RANKS and "differences" not in (protocol.measures or ()):
            yield Mistake(f"{field}.measures", "ranks follow from differences; add differences to the measures")
        elif measure == "variance_components" and protocol.form == "pair" and protocol.data.opponent == EACH_OTHER:
            words = "variance_components needs a score of each system; remove it, or name an opponent in data"
            yield Mistake(f"{field}.measures", words)
        elif measure == RANKS and _beat_each_other_only(protocol):
            yield Mistake(
                f"{field}.measures",
                "ranks of systems that are compared with each other follow from ratings; add ratings",
            )


def _beat_each_other_only(protocol: Protocol) -> bool:
    """Return whether all measures are head-to-head, which need not order three systems."""
    return (
        protocol.form == "pair" and protocol.data.opponent == EACH_OTHER and "ratings" not in (protocol.measures or ())
    )


def _measures_of_scores(field: str, protocol: Protocol, criteria: Mapping[str, Criterion]) -> Iterator[Mistake]:
    measures, depends = protocol.measures or (), tuple(f"criteria.{name}" for name in protocol.criteria)
    named = [criteria[name] for name in protocol.criteria if name in criteria]
    if "checklist" in measures and len({one.level == "turn" for one in named}) > 1:
        words = (
            "the questions of a checklist must all be about responses, or all about dialogues; give all criteria "
            "the same level, or define two protocols"
        )
        yield Mistake(f"{field}.criteria", words, depends)
    applies: dict[str, Callable[[Criterion], bool]] = {}
    if protocol.form == "scale":
        applies = {"checklist": lambda one: one.scale.is_yes_no, "rates": lambda one: bool(one.scale.labels)}
    elif protocol.form == "probability":
        applies = {"checklist": lambda one: one.is_yes_no}
    for measure, counts in applies.items():
        numbers = [one.name for one in named or PAPERS.values() if not counts(one)]
        if measure in measures and numbers:
            words = (
                f"{measure} needs yes/no answers, and these criteria have other scales: {', '.join(numbers)}; give "
                f"them scale: "
                f"yes_no{', or a list of labels,' * (measure == 'rates')} or use means"
            )
            yield Mistake(f"{field}.measures", words, depends)

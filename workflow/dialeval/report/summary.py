"""The sentences on a leaderboard: the leader, the significance of its lead, and the basis of the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.corpora.contamination import IS_CONTROL
from dialeval.report.board import (
    Board,
    First,
    Measure,
    chatbots_of,
    except_for,
    first_by,
    in_words,
    is_missing,
    listed,
    named,
    write_interval,
    write_number,
)
from dialeval.report.inputs import SELFCHAT, EvaluatedProtocol, ReportInputs, Row
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import Kind, scope
from dialeval.text import counted


@dataclass(frozen=True)
class Summary:
    """The sentences about one board.

    Attributes:
        answer: the best systems by each deciding measure.
        basis: dialogues, labels and models behind the numbers.
        details: further sentences, below the table.
        headline: the best system by the primary measure, in one sentence; empty if `answer` says it.
    """

    answer: str
    basis: tuple[str, ...]
    details: tuple[str, ...] = ()
    headline: str = ""


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard with the sentences about it.

    Attributes:
        part: the part of the page that it belongs to.
        title: its title.
        heading: of its rows, such as `System`.
        board: rows and numbers.
        summary: sentences about it.
        tags: tags of the rows, such as `embedded`.
    """

    part: str
    title: str
    heading: str
    board: Board
    summary: Summary
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """The headline, or the answer if there is none."""
        return self.summary.headline or self.summary.answer


def summarise(inputs: ReportInputs, board: Board) -> Summary:
    """Return the answer to the leaderboard's question, according to one judge."""
    if board.judge is None:
        answer = "No judge ran, so there is no ranking; the dialogues are below."
        return Summary(answer, (_seeds(inputs), *_embedded(inputs, None)), tuple(_tokenizers(inputs)))
    measures = [measure for measure in board.measures if measure.decides and _ranking(board, measure)]
    measures = [measure for measure in measures if measure.by_people] or measures  # people decide
    is_selfchat = SELFCHAT in board.sources
    data = [_seeds(inputs), *_embedded(inputs, board.judge)] if is_selfchat else [_dialogues(inputs, board)]
    ensemble = [mean_of(board.judge, inputs.ensembles[board.judge])] if board.judge in inputs.ensembles else []
    return Summary(
        who_is_best(board, measures),
        (*rests_on(board), *adaptive_decisions(inputs, board), *data, *ensemble),
        (
            *_validity(board),
            *_penalised(inputs, board),
            *_uncertainty(inputs, board),
            *memorized(inputs, [board.judge, *board.models]),
            *(_people(board) if is_selfchat else ()),
            *_unparsed_sentences(inputs, board),
            *(_tokenizers(inputs) if is_selfchat else ()),
        ),
        headline(board),
    )


def headline(board: Board) -> str:
    """Return the leader by the primary measure, in one sentence; empty if it ranks no two systems."""
    measure = board.primary
    ranking = _ranking(board, measure) if measure else []
    if measure is None or len(ranking) < 2:
        return ""
    leaders, number = _best(board, measure)
    by = f"{write_number(number, measure.kind)} by {measure.name}{_corrected_by(measure)}"
    if len(leaders) > 1:
        return f"{listed(leaders)} share the first place: {by}."
    first = first_by(board, measure)
    if first is None:
        return f"{leaders[0]} comes first: {by}. The order was not tested."
    if first.rivals:
        return f"{leaders[0]} comes first, but not significantly before {named(first.rivals)}: {by}."
    is_best = "chats best" if SELFCHAT in board.sources else "is best"
    return f"{leaders[0]} {is_best}, significantly ahead of all others{except_for(first.unplaced)}: {by}."


def _corrected_by(measure: Measure) -> str:
    """Return whose labels correct a measure, in words; empty for the judge's own."""
    if not measure.by_people:
        return ""
    words = {"people": "human-corrected", "simulated": "corrected by simulated labels"}
    return f", {words.get(measure.by_people, 'corrected by real and simulated labels')}"


def mean_of(ensemble: str, members: tuple[str, ...]) -> str:
    """Return a sentence that explains an ensemble."""
    return f"Judge {ensemble} is an ensemble: the mean of the scores of {listed(members)}, each mapped to [0, 1]."


def _ranking(board: Board, measure: Measure) -> list[tuple[str, float]]:
    """Return the systems that have a number, best first, with their numbers."""
    known = [(system, number) for system in chatbots_of(board) if (number := measure.number(system)) is not None]
    return sorted(known, key=lambda entry: -entry[1])


def who_is_best(board: Board, measures: list[Measure]) -> str:
    """Return the best systems by some measures, and the source of the statement."""
    says, without_winner = _source_of_ranking(board, measures)
    is_best, chatted = ("chats best", "chatted") if SELFCHAT in board.sources else ("is best", "was judged")
    if not measures:
        return f"{board.judge} gives no ranking: there is no protocol with a rate or rating."
    unlabelled = _unlabelled(board, measures)
    there = [model for model in chatbots_of(board) if model not in unlabelled]
    if len(there) == 1:
        numbers = listed([f"{write_number(_best(board, m)[1], m.kind)} by {m.name}" for m in measures])
        was = "was labelled" if unlabelled else chatted
        return f"Only {there[0]} {was}, so there is no ranking: {numbers}."
    leaders = [_best(board, measure)[0] for measure in measures]
    places = [f"{m.name} ({write_number(_best(board, m)[1], m.kind)})" for m in measures]
    how_surely = _how_surely(board, measures)
    if len(leaders[0]) == 1 and all(models == leaders[0] for models in leaders):
        firsts = _firsts(board, measures)
        is_best = "comes first" if firsts and all(first.rivals for first in firsts) else is_best
        words = f"{leaders[0][0]} {is_best}, {says}: first by {listed(places)}."
    else:
        by = [f"{listed(models)} by {place}" for models, place in zip(leaders, places, strict=True)]
        words = f"{without_winner}. First: {'; '.join(by)}."
    missing = [f"{listed(unlabelled)} {'has' if len(unlabelled) == 1 else 'have'} no labels."] if unlabelled else []
    return " ".join([words, *how_surely, *missing])


def _unlabelled(board: Board, measures: list[Measure]) -> list[str]:
    """Return the systems without a human-corrected estimate that decides, if human-corrected estimates decide."""
    if not any(measure.by_people for measure in measures):
        return []
    return [system for system in chatbots_of(board) if all(measure.number(system) is None for measure in measures)]


def _source_of_ranking(board: Board, measures: list[Measure]) -> tuple[str, str]:
    """Return the source of a ranking in words, and the sentence for no single winner."""
    if not any(measure.by_people for measure in measures):
        return f"according to judge {board.judge}", f"Judge {board.judge} has no single winner"
    simulated = all(measure.by_people == "simulated" for measure in measures)
    source = "estimates corrected by simulated labels" if simulated else "human-corrected estimates"
    return f"according to {source}", f"There is no single winner by {source}"


_ANNOTATORS = {
    "people": "annotators",
    "simulated": "simulated annotators (a program, not people)",
    "people and simulated": "annotators and simulated annotators (a program, not people)",
}


def rests_on(board: Board) -> list[str]:
    """Return the annotators whose labels correct the judge, if there are any."""
    whose = list(dict.fromkeys(measure.by_people for measure in board.measures if measure.by_people))
    if not whose:
        return []
    who = listed([_ANNOTATORS[one] for one in whose])
    return [f"The human-corrected estimates use labels of {who}, and the judge's scores of all dialogues."]


def _firsts(board: Board, measures: list[Measure]) -> list[First]:
    """Return the possible leaders by each measure with rank confidence sets."""
    return [first for measure in measures if (first := first_by(board, measure)) is not None]


def _best(board: Board, measure: Measure) -> tuple[list[str], float]:
    """Return the systems that share the first place, and their value."""
    ranking = _ranking(board, measure)
    top = ranking[0][1]
    return [system for system, number in ranking if math.isclose(number, top, rel_tol=1e-12)], top


def _how_surely(board: Board, measures: list[Measure]) -> list[str]:
    """Return how surely the first is first by each measure that the answer names.

    Without ranks no order is settled, whatever the intervals.
    """
    open_pairs: dict[tuple[str, str], list[str]] = {}
    for measure in measures:
        if measure.places:
            continue
        ranking = _ranking(board, measure)
        if len(ranking) < 2:
            continue
        (first, best), (second, next_best) = ranking[:2]
        if best == next_best:  # a first place that is shared was named as one
            continue
        pair = (second, first) if (second, first) in open_pairs else (first, second)
        open_pairs.setdefault(pair, []).append(measure.name)
    return in_words(_firsts(board, measures), len(measures)) + [
        f"By {listed(labels)}, the order of {first} and {second} was not tested."
        for (first, second), labels in open_pairs.items()
    ]


def _people(board: Board) -> list[str]:
    """Return how the human dialogues fare by themselves, at the greatest N that any of them reaches."""
    for measure in reversed(board.measures):
        people = measure.values.get(HUMAN)
        if people is not None and measure.kind == "share" and not is_missing(people.value):
            reach = f"The human dialogues reach {write_number(people.value, 'share')} by {measure.label}"
            return [f"{reach} ({counted(people.n, 'dialogue')})." if people.n else f"{reach}."]
    return []


def _embedded(inputs: ReportInputs, judge: str | None) -> list[str]:
    """Return sentences on embedded models, if any take part."""
    sentences = []
    chatbots = [model for model in inputs.chatbots if model in inputs.embedded]
    if chatbots:
        who = f"Chatbot {chatbots[0]} is an embedded model, a small classical baseline"
        if len(chatbots) > 1:
            who = f"The chatbots {listed(chatbots)} are embedded models, small classical baselines"
        sentences.append(f"{who}. The results do not apply to language models.")
    if judge in inputs.embedded:
        sentences.append(
            f"Judge {judge} is an embedded model{' too' if chatbots else ''}. Its verdicts are a baseline and "
            "do not apply to LLM judges."
        )
    return sentences


def _tokenizers(inputs: ReportInputs) -> list[str]:
    tokenizers = sorted({row["tokenizer"] for row in inputs.rows("botchat/utterance_lengths")})
    return [f"Tokens are counted by: {listed(tokenizers)}."] if tokenizers else []


def _seeds(inputs: ReportInputs) -> str:
    run = f"{counted(len(inputs.chatbots), 'chatbot')} on {counted(len(inputs.seeds), 'seed')}"
    n_arena, n_gteval = (pc.sum(inputs.seeds[purpose]).as_py() or 0 for purpose in ("for_arena", "for_gteval"))
    if n_arena == n_gteval == len(inputs.seeds):
        return f"{run}."
    if n_arena == n_gteval:
        return f"{run}, {n_arena:,} of them for Arena and GTEval."
    return f"{run}, {n_arena:,} of them for Arena and {n_gteval:,} for GTEval, which needs alternating speakers."


def _validity(board: Board) -> list[str]:
    """Return the validity of the judge on each criterion."""
    found: dict[tuple[str, str], list[str]] = {}
    for measure in board.measures:
        if measure.words:  # what is unknown of several criteria for one reason stands once
            head, unknown, tail = measure.words.partition(f"{measure.criterion} is not known: ")
            criteria = found.setdefault((head, unknown and tail), [])
            criteria += [measure.criterion] if unknown and measure.criterion not in criteria else []
    return [
        f"{head}{listed(criteria)} is not known: {tail}." if criteria else f"{head}."
        for (head, tail), criteria in found.items()
    ]


def _penalised(inputs: ReportInputs, board: Board) -> list[str]:
    """Return the penalised ratings of systems that have none by maximum likelihood, at the greatest length of each."""
    name, sentences = "bradley_terry_penalised", []
    for protocol in inputs.protocols:
        if protocol.sources != board.sources:
            continue
        rows = [row for row in inputs.rows(f"{protocol.name}/ratings") if row["judge"] == board.judge]
        longest = max((row["n_utterances"] or 0 for row in rows), default=0)
        named = [
            f"{row['system']} {write_number(row[name], 'rating')} "
            f"({write_interval(row[f'{name}_ci_low'], row[f'{name}_ci_high'], 'rating')})"
            for row in rows
            if (row["n_utterances"] or 0) == longest
            and is_missing(row["bradley_terry"])
            and not (is_missing(row[f"{name}_ci_low"]) or is_missing(row[f"{name}_ci_high"]))
        ]
        if named:
            sentences.append(
                f"{protocol.title}: some ratings are not identifiable. With Firth's penalty they are {listed(named)}."
            )
    return sentences


def memorized(inputs: ReportInputs, models: Iterable[str]) -> list[str]:
    """Return which published texts models complete verbatim, a sentence for each model and corpus that was tested."""
    tested = set(models)
    sentences = []
    for row in inputs.rows("memorization"):
        if row["model"] not in tested or row["note"] == IS_CONTROL or is_missing(row["estimate"]):
            continue
        share = write_number(row["estimate"], "share")
        interval = write_interval(row["ci_low"], row["ci_high"], "share")
        against = [f"chance {write_number(row['chance'], 'share')}"] if not is_missing(row["chance"]) else []
        if not is_missing(row["p_holm"]):
            against.append(f"control {write_number(row['control'], 'share')}, p = {row['p_holm']:.2g} (Holm)")
        said = f"{row['model']} completes {share} ({interval}) of the texts of corpus {row['corpus']} verbatim"
        more = (
            row["p_holm"] < _SIGNIFICANT if not is_missing(row["p_holm"]) else row["estimate"] > (row["chance"] or 0.0)
        )
        ending = (
            "It may know these texts; scores are not corrected."
            if more
            else "This is no evidence for or against memorization."
        )
        sentences.append(f"{said} ({'; '.join(against)}). {ending}" if against else f"{said}. {ending}")
    return sentences


def _uncertainty(inputs: ReportInputs, board: Board) -> list[str]:
    """Return sentences on the gain in precision from more cases, repeats and judges."""
    sentences = []
    for protocol in inputs.protocols:
        if protocol.sources != board.sources:
            continue
        questions: dict[tuple[str, str], dict[str, str]] = {}
        for row in inputs.rows(f"{protocol.name}/variance_components"):
            if row["statistic"] == "half-width" and not is_missing(row["estimate"]):
                name = row["measure"].replace("_", " "), scope(row)
                kind: Kind = "share" if row["measure"] in _SHARES else "number"
                questions.setdefault(name, {})[row["component"]] = write_number(row["estimate"], kind)
        for (measure, question), widths in list(questions.items())[:_MOST_QUESTIONS]:
            more = [
                f"±{widths[design]} with twice the {units}"
                for design, units in (("a judge, twice the cases", "cases"), ("a judge, twice the repeats", "repeats"))
                if design in widths
            ]
            about = f"{measure}, {question}" if question != "all" else measure
            sentences.append(
                f"{protocol.title} ({about}): the interval of a difference between two systems is ±{widths['a judge']} "
                f"on average (one judge). It would be {listed(more)}."
            )
        over_judges = inputs.rows(f"{protocol.name}/judge_differences")
        tested = [row for row in over_judges if not is_missing(row["p_holm"])]
        if tested:
            clear = sum(row["p_holm"] < _SIGNIFICANT for row in tested)
            sentences.append(
                f"{protocol.title}: significant over a population of judges (Holm): {clear} of "
                f"{counted(len(tested), 'difference')}."
            )
    return sentences


def _dialogues(inputs: ReportInputs, board: Board) -> str:
    """Return how many dialogues of how many systems there are."""
    tables = [inputs.transcripts[source] for source in board.sources if source in inputs.transcripts]
    systems = {system for table in tables for system in pc.unique(table["system"]).to_pylist()}
    return f"{counted(sum(map(len, tables)), 'dialogue')} of {counted(len(systems), 'system')}."


def _unparsed_sentences(inputs: ReportInputs, board: Board) -> list[str]:
    judge, verdicts = board.judge, inputs.verdicts
    elsewhere = pa.array([one.name for one in inputs.protocols if one.sources != board.sources], pa.string())
    mine = pc.and_(pc.equal(verdicts["judge"], judge), pc.invert(pc.is_in(verdicts["protocol"], value_set=elsewhere)))
    statuses = verdicts.filter(mine)["status"]
    if not len(statuses):
        return []
    unparsed = pc.sum(pc.not_equal(statuses, "ok")).as_py() or 0
    if not unparsed:
        return [f"All {counted(len(statuses), 'verdict')} of {judge} could be parsed."]
    return [
        f"{unparsed:,} of {counted(len(statuses), 'verdict')} of {judge} have no parsed answer (unparsed, "
        "refused, truncated or missing). They count in the denominator of every rate, and do not affect ratings and "
        "means."
    ]


# Adaptive comparisons: how many are settled, which are not, and how many requests were saved.

_MOST_NAMED = 4
_ENDED = "ended"


def adaptive_decisions(inputs: ReportInputs, board: Board) -> list[str]:
    """Return a few sentences on the decisions of each adaptive protocol, for a board's judge."""
    found = []
    for protocol in inputs.protocols:
        if protocol.sources == board.sources:
            last = {
                (row["criterion"], row["n_utterances"], row["system"], row["opponent"]): row
                for row in inputs.rows(f"{protocol.name}/adaptive_rounds")
                if row["judge"] == board.judge
            }
            if last:
                found.append(_adaptive_sentence(protocol, list(last.values())))
    return found


def _adaptive_sentence(protocol: EvaluatedProtocol, comparisons: list[Row]) -> str:
    waiting = [row for row in comparisons if row["decision"] == _ENDED]
    requested, full = (sum(row[name] for row in comparisons) for name in ("n_requests", "n_requests_full"))
    words = (
        f"{protocol.title} (sequential pairs) settled {len(comparisons) - len(waiting)} of "
        f"{counted(len(comparisons), 'comparison')} with {requested:,} of {full:,} requests. Ratings weight every pair "
        "equally."
    )
    if waiting:
        named = [_named(row) for row in waiting[:_MOST_NAMED]]
        more = [f"{len(waiting) - _MOST_NAMED:,} more"] if len(waiting) > _MOST_NAMED else []
        words += f" Not settled (not shown to be equal): {listed([*named, *more])}."
    return words


def _named(row: Row) -> str:
    where = scope({"criterion": row["criterion"], "n_utterances": row["n_utterances"]})
    return f"{row['system']} against {row['opponent']}" + ("" if where == "all" else f" ({where})")


# Judges checked by labels: whether one may replace annotators, and on which items it is certain enough.

PANEL = "panel"
"""The judge of numbers that rest on all judges together."""
_PASSING = 0.5  # winning rate
_MARGINS = {
    "winning_rate_crowd": "at the margin 0.1 of crowd workers",
    "winning_rate_skilled": "at the margin 0.15 of skilled annotators",
    "winning_rate_expert": "at the margin 0.2 of experts",
}
_MOST_QUESTIONS = 6
_SHARES = frozenset({"pass_rate", "win_rate", "win_or_tie", "rate", "checklist"})
_SIGNIFICANT = 0.05


def judge_checks(inputs: ReportInputs, protocol: str, judge: str) -> list[str]:
    """Return whether a judge may replace the annotators of a protocol, and where it is certain enough."""

    def rows(table: str) -> list[Row]:
        return [row for row in inputs.rows(table) if (row["protocol"], row["judge"]) == (protocol, judge)]

    who = "The panel of judges" if judge == PANEL else f"Judge {judge}"
    tested = [row for row in rows("labels/replacement") if row["annotator"] is None]
    outcomes: dict[str, list[str]] = {}
    untested: dict[str, dict[str, list[str]]] = {}  # reason without numbers -> reason -> questions
    for row in tested:
        passed = next((words for rate, words in _MARGINS.items() if (row[rate] or 0.0) >= _PASSING), "")
        if is_missing(row["winning_rate_expert"]):
            reason = str(row["note"]).partition("; ")[0]
            untested.setdefault(reason, {}).setdefault(row["note"], []).append(scope(row))
            continue
        if passed:
            words = f"passes the alternative annotator test {passed}"
        else:
            words = "does not pass the alternative annotator test, not even at the margin 0.2 of experts"
        outcomes.setdefault(words, []).append(scope(row))
    sentences = [f"{who} {words}{_on(questions, len(tested))}." for words, questions in outcomes.items()]
    for reason, notes in untested.items():
        on = _on([question for questions in notes.values() for question in questions], len(tested))
        words = next(iter(notes)) if len(notes) == 1 else f"{reason}; the annotators have fewer"
        sentences.append(f"{who}: no alternative annotator test{on}: {words}.")
    kept: dict[str, Row] = {}
    for row in rows("labels/selective"):
        if row["agreement"] is not None and not is_missing(row["threshold"]):
            kept[scope(row)] = row
    for question, row in list(kept.items())[:_MOST_QUESTIONS]:
        share, agreement = (write_number(row[name], "share") for name in ("coverage", "agreement"))
        rest = (
            f" Use annotators or a stronger judge for the other {row['n_escalated']:,}." if row["n_escalated"] else ""
        )
        sentences.append(
            f"{who} agrees with an annotator on at least {agreement} of its most certain items, {share} of all"
            f"{_on([question], len(kept) + 1 if question != 'all' else 1)}.{rest}"
        )
    return sentences


def spread_of_labels(inputs: ReportInputs, protocol: str) -> list[str]:
    """Return how much of the variance of a label lies between annotators, a sentence for each criterion."""
    shares: dict[str, dict[str, float]] = {}
    for row in inputs.rows("labels/variance_components"):
        if row["protocol"] == protocol and not is_missing(row["ci_low"]) and not is_missing(row["share"]):
            shares.setdefault(row["criterion"] or "", {})[row["component"]] = row["share"]
    sentences = []
    for criterion, parts in list(shares.items())[:_MOST_QUESTIONS]:
        if "annotator" in parts:
            between, among = (write_number(share, "share") for share in (parts["annotator"], _disagreement(parts)))
            sentences.append(
                f"Variance of the labels{criterion and f' of {criterion}'}: {between} is between annotators' means, "
                f"{among} is their disagreement on systems and dialogues."
            )
    return sentences


def _disagreement(parts: Mapping[str, float]) -> float:
    """Return the share of the interactions of annotators, with the components confounded with them."""
    return sum(share for name, share in parts.items() if " x annotator" in name)


def _on(questions: list[str], n: int) -> str:
    """Return which questions a sentence is about; empty where there is only one, without a name."""
    if questions == ["all"] or (len(questions) == n > 1):
        return "" if questions == ["all"] else " (all questions)"
    more = len(questions) - _MOST_QUESTIONS
    named = [*questions[:_MOST_QUESTIONS], *([f"{more:,} more"] if more > 0 else [])]
    return f" ({listed(named)})"

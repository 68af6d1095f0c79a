"""Reading a configuration: every mistake in one message, worded for the person who wrote the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from dialeval.config.absent import absent_corpora, is_there
from dialeval.config.consistency import inconsistencies
from dialeval.config.mistakes import Mistake
from dialeval.config.whole import WITHOUT_CHATBOTS, Config
from dialeval.config.wording import in_words, is_of_other_branch, meant_field, place_of
from dialeval.errors import UserError

Place = tuple[str | int, ...]
Check = Callable[[Config], Iterable[Mistake]]
"""Finds further mistakes in a configuration; names in it need not be defined."""
ROUNDS = 20
"""How often what is wrong is taken out to look at the rest; a part in a part in a part is at most so deep."""


def load_config(
    raw: Mapping[str, Any], *, files_are_there: bool = True, further: Sequence[Check] = (), source: str = ""
) -> Config:
    """Checks a configuration and the files it names.

    Where a field is wrong the rest is looked at without it, so that all mistakes come in one message; what may only
    follow from another mistake is left out.

    Args:
        raw: the configuration as read from YAML.
        files_are_there: whether what it names must exist by now; before a download it need not.
        further: checks of what it names besides.
        source: where it was read, for the message.

    Raises:
        UserError: one message with every mistake: the field, the value, and what would be right.
    """
    config, wrong, lines = _fields(dict(raw))
    if config is not None:
        checks: tuple[Check, ...] = (inconsistencies, missing_files, *further) if files_are_there else (
            inconsistencies, *further
        )  # fmt: skip
        for check in checks:
            found = [mistake for mistake in check(config) if not _follows(mistake, wrong)]
            lines += [_in_line(f"  {mistake}") for mistake in found]
            if found and check is missing_files and config.public_corpora:
                names = ", ".join(config.public_corpora)
                lines[-1] += (
                    f"\n  `snakemake --cores 1 download` with the same configuration fetches {names} into data_dir"
                )
    if lines or config is None:
        lines = list(dict.fromkeys(lines))
        raise UserError(f"the configuration{source} has {_count(lines)}:\n" + "\n".join(lines))
    return config


def _in_line(mistake: str) -> str:
    """Returns a mistake in one line: a name of the file may have lines of its own."""
    return mistake.replace("\n", "\\n")


def missing_files(config: Config) -> Iterator[Mistake]:
    """Yields the files and folders that a configuration names and that are not there."""
    corpora = [name for name in config.used_corpora() if name in config.corpora]
    sources = {f"corpora.{name}.path": config.corpus_path(name) for name in corpora}
    sources |= {f"battles.{name}.path": config.battles_path(name) for name in config.battles}
    sources |= {f"transcripts.{name}.path": config.transcripts_path(name) for name in config.transcripts}
    sources |= config.published_sources()
    if config.metaeval:
        needed = [name for name in config.metaeval.corpora if name not in absent_corpora(config)]
        sources |= {f"metaeval.corpora.{name}.path": config.rated_path(name) for name in needed}
        sources |= {
            f"metaeval.score_files.{name}.path": config.score_path(name) for name in config.metaeval.score_files
        }
    sources |= {"selfchat.scenarios.path": config.scenarios_path()}
    sources |= {"robustness.published": config.published_damage()}
    sources |= {"dialogbench.experts.answers": config.expert_answers()}
    if config.dialogbench:
        sources |= {
            f"dialogbench.published.{name}.path": config.item_path(name) for name in config.dialogbench.published
        }
    for field, path in sources.items():
        if path is not None and not is_there(path):
            words = (
                f"{path} does not exist; correct the path or `data_dir` (now '{config.data_dir}'), for example with "
                "--config data_dir=FOLDER"
            )
            yield Mistake(field, words, ("data_dir",))
    for field, path in (
        ("prompts.directory", config.prompts.directory),
        ("tokens.cl100k_file", config.tokens.cl100k_file),
    ):
        if path is not None and not is_there(path.expanduser()):
            yield Mistake(field, f"{path} does not exist; correct the path or leave the field out")


def _fields(raw: dict[str, Any]) -> tuple[Config | None, set[Place], list[str]]:
    """Return the configuration without the fields that are wrong, their places, and what is wrong with them.

    A field that is misspelt is read as the field that it means, so that nothing else seems to be missing; what is wrong
    in it is told once its name is right.
    """
    wrong: set[Place] = set()
    lines: list[str] = []
    for _ in range(ROUNDS):
        try:
            return Config.model_validate(raw, context={"parts_alone": True}), wrong, lines
        except ValidationError as error:
            mistakes = [dict(details) for details in error.errors() if not is_of_other_branch(dict(details))]
            if meant := _misspelt(mistakes, raw):
                lines += [_in_line(in_words(details)) for details in mistakes if place_of(details) in meant]
                wrong |= {*meant, *meant.values()}
                raw = _renamed(raw, meant)
                continue
            found: set[Place] = set()
            missing = {place_of(details) for details in mistakes if details["type"] == "missing"}
            for details in mistakes:
                place = place_of(details)
                if place[-1:] == ("of",) and (*place[:-1], "form") in missing:
                    continue  # told with the form
                # what holds a part that was left out before, or lies in one, may be wrong by that alone
                if not _touches(place, wrong):
                    lines.append(_in_line(in_words(details)))
                found.add(place if details["type"] != "missing" or len(place) == 1 else place[:-1])
            wrong |= found
            needed = {name: part for name, part in WITHOUT_CHATBOTS.items() if (name,) in found}
            raw = _without(raw, found) | needed
    return None, wrong, lines


def _misspelt(mistakes: Iterable[dict[str, Any]], raw: Mapping[str, Any]) -> dict[Place, Place]:
    """Return the places of unknown fields with those of the fields that they mean and that are not there."""
    meant: dict[Place, Place] = {}
    for details in mistakes:
        place, field = place_of(details), meant_field(details)
        if field and field not in _names_at(raw, place[:-1]) and (*place[:-1], field) not in meant.values():
            meant[place] = (*place[:-1], field)
    return meant


def _names_at(part: Any, place: Place) -> set[str]:
    for key in place:
        entries = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
        part = next((value for name, value in entries if str(name) == key), None)
    return {str(name) for name in part} if isinstance(part, Mapping) else set()


def _renamed(part: Any, meant: Mapping[Place, Place]) -> Any:
    """Return a part of the configuration with other names for what lies at some places."""
    if isinstance(part, list):
        return [_renamed(entry, _inside(meant, str(number))) for number, entry in enumerate(part)]
    if not isinstance(part, Mapping):
        return part
    names = {key: str(meant[str(key),][0]) if (str(key),) in meant else key for key in part}
    return {names[key]: _renamed(value, _inside(meant, str(key))) for key, value in part.items()}


def _inside(meant: Mapping[Place, Place], key: str) -> dict[Place, Place]:
    return {place[1:]: other[1:] for place, other in meant.items() if len(place) > 1 and place[0] == key}


def _without(part: Any, places: set[Place]) -> Any:
    """Returns a part of the configuration without what lies at some places."""
    if isinstance(part, Mapping):
        kept = {key: value for key, value in part.items() if (str(key),) not in places}
        return {key: _without(value, _below(places, str(key))) for key, value in kept.items()}
    if isinstance(part, list):
        kept_entries = [(number, entry) for number, entry in enumerate(part) if (str(number),) not in places]
        return [_without(entry, _below(places, str(number))) for number, entry in kept_entries]
    return part


def _below(places: set[Place], key: str) -> set[Place]:
    return {place[1:] for place in places if len(place) > 1 and place[0] == key}


def _follows(mistake: Mistake, wrong: set[Place]) -> bool:
    """Returns whether a mistake may follow from a field that is wrong itself: around its own, or one it is about."""
    own = tuple(mistake.field.split("."))
    if any(own[: len(other)] == other for other in wrong):
        return True
    return any(_touches(tuple(field.split(".")), wrong) for field in mistake.about)


def _touches(place: Place, others: Iterable[Place]) -> bool:
    """Return whether a place is one of others, lies in one, or holds one."""
    return any(place[: len(other)] == other[: len(place)] for other in others)


def _count(lines: list[str]) -> str:
    return "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"

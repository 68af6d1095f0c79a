"""`dialeval init FOLDER`: makes a folder in which `snakemake` runs, with its configuration."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from dialeval.config.corpora import Columns
from dialeval.config.loading import load_config
from dialeval.config.models import METHODS
from dialeval.corpora.download import fetch_data_set, is_on_hub
from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.criteria import SHIPPED
from dialeval.errors import UserError, nearest
from dialeval.paths import PROJECT
from dialeval.text import counted

DEFAULT_KEY = "OPENAI_API_KEY"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+-]+")
MODEL = "NAME=MODEL"


def add_init(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dialeval init`."""
    parser.epilog = (
        "The folder gets config.yaml, a Snakefile to which you can add rules, a profile that uses all cores, and "
        "README.md. Without options, the configuration is the default run: embedded models on bundled dialogues, "
        "offline. NAME is the model's name in tables, MODEL its name at the endpoint. An embedded model needs no MODEL "
        "(--judge forest). Chatbots continue 20 bundled dialogues; `seeds.limit` changes the number. Judges score your "
        "dialogues on coherence and overall, or on each --criterion. Without --dialogues, judges run BotChat's "
        "protocols, and score the chatbots' dialogues on each --criterion."
    )
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="folder to create; existing files are never overwritten"
    )
    parser.add_argument("--base-url", metavar="URL", help="address of the endpoint (default: OpenAI's)")
    parser.add_argument(
        "--api-key-env",
        metavar="NAME",
        help=f"environment variable that holds the key (default: {DEFAULT_KEY}; with --base-url: no key)",
    )
    parser.add_argument("--chatbot", action="append", default=[], metavar=MODEL, help="chatbot; repeatable")
    parser.add_argument("--judge", action="append", default=[], metavar=MODEL, help="judge; repeatable")
    parser.add_argument(
        "--dialogues",
        metavar="FILE",
        help="dialogues of your own systems; also hf://datasets/OWNER/NAME@REVISION, which is fetched into FOLDER/data",
    )
    parser.add_argument("--system", metavar="NAME", help="name of the system, if the file has none")
    parser.add_argument("--evaluated-role", metavar="NAME", help="speaker to evaluate, if not detected")
    parser.add_argument(
        "--language", metavar="CODE", help="language of the dialogues, if the file has none (default: en)"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=NAME",
        help="a column or field with an uncommon name, such as text=Body or system=meta.bot; repeatable",
    )
    parser.add_argument(
        "--criterion",
        action="append",
        default=[],
        metavar="NAME[=QUESTION]",
        help="a criterion of DialEval, such as coherence, or yours with its question; repeatable",
    )
    parser.add_argument(
        "--pairs",
        action=argparse.BooleanOptionalAction,
        help="compare systems in pairs (default: yes if systems in --dialogues share cases and a judge can compare)",
    )
    parser.add_argument("--labels", type=int, metavar="N", help="draw N dialogues per system, or N pairs, to label")


def init(arguments: argparse.Namespace) -> int:
    """Make the folder and print the next commands."""
    if arguments.dialogues is not None and is_on_hub(arguments.dialogues):
        arguments.dialogues = fetch_data_set(arguments.dialogues, arguments.folder / "data")
        print(f"fetched {arguments.dialogues}")
    wish = _wish(arguments)
    notes: list[str] = []
    made = make_folder(arguments.folder, wish, notes)
    for note in notes:
        print(f"read: {note}")
    for path in made:
        print(f"made {arguments.folder / path}")
    print("next:")
    if arguments.folder.resolve() != Path.cwd():
        print(f"  cd {shlex.quote(str(arguments.folder))}")
    if wish.calls_models and wish.api_key_env and wish.api_key_env not in os.environ:
        print(f"  export {wish.api_key_env}=...")
    if wish.calls_models:
        print("  dialeval check --ask     # sends each model one short request")
        print("  snakemake estimate       # requests, tokens and cost")
    if wish.labels:
        print("  snakemake annotation_pages     # pages for annotators; it prints where to put the files they return")
    print("  snakemake")
    return 0


def _wish(arguments: argparse.Namespace) -> Wish:
    """Return the settings of the options.

    Raises:
        UserError: an option is of no use without another.
    """
    for option in ("system", "evaluated_role", "language", "column"):
        if getattr(arguments, option) and arguments.dialogues is None:
            raise UserError(f"--{option.replace('_', '-')} needs dialogues of your own systems; add --dialogues FILE")
    key = arguments.api_key_env or (None if arguments.base_url else DEFAULT_KEY)
    wish = Wish(
        base_url=arguments.base_url,
        api_key_env=key,
        chatbots=[as_model(text) for text in arguments.chatbot],
        judges=[as_model(text) for text in arguments.judge],
        dialogues=None if arguments.dialogues is None else Path(arguments.dialogues),
        system=arguments.system,
        evaluated_role=arguments.evaluated_role,
        language=arguments.language,
        columns=dict(as_column(text) for text in arguments.column),
        criteria=dict(as_criterion(text) for text in arguments.criterion),
        pairs=arguments.pairs,
        labels=arguments.labels,
    )
    if wish.is_default and arguments.api_key_env:
        raise UserError(
            "--api-key-env needs a model behind an endpoint; add --chatbot NAME=MODEL or --judge NAME=MODEL"
        )
    return wish


@dataclass(frozen=True)
class Wish:
    """What a configuration is to be about.

    Attributes:
        base_url: the endpoint's address; None for OpenAI's.
        api_key_env: NAME of the variable with the key; None where none is sent.
        chatbots: models that chat.
        judges: models that judge.
        dialogues: a file or folder of transcripts of the user's systems.
        system: system of the transcripts, if the file has none.
        evaluated_role: the speaker who is the system, if it cannot be inferred.
        language: of dialogues that do not name theirs; None for English.
        columns: uncommon names of columns, and paths of fields, by content.
        criteria: questions of the criteria by name; "" for a criterion of DialEval. Empty for coherence and overall.
        pairs: whether systems are compared in pairs; None: if cases and judges allow it.
        labels: dialogues of each system, or pairs in all, that annotators label; None for no labels.
        price_input, price_output: price of a million tokens by model; others have none.
        budget: maximum cost of all models; None for no limit.
        source_options, pairs_option: how the caller names system, evaluated role and columns, and pairs, for messages.
    """

    base_url: str | None = None
    api_key_env: str | None = DEFAULT_KEY
    chatbots: Sequence[Model] = ()
    judges: Sequence[Model] = ()
    dialogues: Path | None = None
    system: str | None = None
    evaluated_role: str | None = None
    language: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    criteria: Mapping[str, str] = field(default_factory=dict)
    pairs: bool | None = None
    labels: int | None = None
    price_input: Mapping[str, float] = field(default_factory=dict)
    price_output: Mapping[str, float] = field(default_factory=dict)
    budget: float | None = None
    source_options: str = "--system NAME, --evaluated-role NAME and --column FIELD=NAME"
    pairs_option: str = "--pairs"

    @property
    def is_default(self) -> bool:
        """Whether no option is given, so that the folder gets the default run's configuration."""
        given = (self.chatbots, self.judges, self.dialogues, self.base_url, self.criteria)
        return not any(given) and self.pairs is None and self.labels is None

    @property
    def calls_models(self) -> bool:
        """Whether the run sends requests to an endpoint."""
        return any(model.model for model in (*self.chatbots, *self.judges))


@dataclass(frozen=True)
class Model:
    """A model as it is named on a command line.

    Attributes:
        name: what tables call it.
        model: its name at the endpoint; "" for an embedded model.
    """

    name: str
    model: str = ""


def configuration_text(wish: Wish, folder: Path, notes: list[str] | None = None) -> str:
    """Return a `config.yaml` with comments.

    Args:
        wish: what it is to be about.
        folder: where it will lie, from which its paths are seen.
        notes: what is worth knowing of its transcripts is added here.

    Raises:
        UserError: the wish lacks something, names a model twice, or its transcripts cannot be read.
    """
    if wish.is_default:
        return (PROJECT / "config.yaml").read_text(encoding="utf-8")
    if not wish.judges:
        raise UserError(
            "there is no judge; add --judge NAME=MODEL (a chatbot may also judge: give it the same NAME=MODEL), or "
            "--judge forest, an embedded judge and baseline that makes no model calls"
        )
    if not wish.chatbots and wish.dialogues is None:
        raise UserError(
            "there are no dialogues to judge; add --chatbot NAME=MODEL, twice or more to compare chatbots, or "
            "--dialogues FILE with dialogues of your own systems"
        )
    source = _source(wish, folder, [] if notes is None else notes) if wish.dialogues else None
    pair_judges = [model.name for model in wish.judges if model.model]
    text = rendered(
        "config.yaml.j2",
        wish=wish,
        source=source,
        models={model.name: model for model in _distinct([*wish.chatbots, *wish.judges])},
        pair_judges=pair_judges,
        criteria=list(wish.criteria) or ["coherence", "overall"],
        own={name: question for name, question in wish.criteria.items() if question},
        has_pairs=_has_pairs(wish, source, pair_judges),
    )
    load_config(yaml.safe_load(text), files_are_there=False, source=" of these settings")
    return text


def _has_pairs(wish: Wish, source: _Source | None, pair_judges: Sequence[str]) -> bool:
    """Return whether a protocol compares systems in pairs.

    Raises:
        UserError: the wish names pairs, and there are none or no judge can compare them.
    """
    share_cases = source.has_pairs if source else len(wish.chatbots) > 1
    if wish.pairs and not share_cases:
        systems = f"the dialogues are of {', '.join(source.systems)}" if source else "there is one chatbot"
        raise UserError(
            f"{wish.pairs_option}: {systems}, and no two systems share a case; give dialogues of two systems the same "
            f"case_id, or {'' if source else 'add a second --chatbot, or '}remove {wish.pairs_option}"
        )
    if wish.pairs and not pair_judges:
        judges = ", ".join(model.name for model in wish.judges)
        raise UserError(
            f"{wish.pairs_option}: no judge can compare dialogues ({judges}: embedded); add a judge NAME=MODEL, or "
            f"remove {wish.pairs_option}"
        )
    return bool(pair_judges) and share_cases and (source is not None if wish.pairs is None else wish.pairs)


def as_model(text: str) -> Model:
    """Return a model that is written `NAME=MODEL`, or as the name of an embedded one.

    Raises:
        UserError: it is neither.
    """
    name, has_model, model = text.partition("=")
    if has_model and name and model:
        return Model(name, model)
    if has_model or name not in METHODS:
        raise UserError(
            f"'{text}' is not a model; write NAME=MODEL, where NAME is its name in tables and MODEL its name at the "
            f"endpoint, or an embedded model by its name ({nearest(name, METHODS)})"
        )
    return Model(name)


def as_column(text: str) -> tuple[str, str]:
    """Return field and column name of `FIELD=NAME`.

    Raises:
        UserError: it is not, or no column has such a value.
    """
    what, _, name = text.partition("=")
    if what not in Columns.model_fields or not name:
        raise UserError(
            f"--column {text}: write FIELD=NAME, where NAME is a column of the file or the path of a field, such as "
            f"meta.bot, and FIELD is one of {', '.join(Columns.model_fields)}"
        )
    return what, name


def as_criterion(text: str) -> tuple[str, str]:
    """Return the name and the question of a criterion, which is written `NAME` or `NAME=QUESTION`.

    Raises:
        UserError: the name is not DialEval's and has no question, or is DialEval's and has one, or is no name.
    """
    name, has_question, question = (part.strip() for part in text.partition("="))
    return criterion(name, question if has_question else None, f"--criterion {text}", "--criterion '{}=QUESTION'")


def criterion(name: str, question: str | None, place: str, form: str) -> tuple[str, str]:
    """Return the name and the question of a criterion, "" for the question of a shipped criterion.

    Args:
        name: its name.
        question: its question; None for a shipped criterion.
        place: the option or argument, for messages.
        form: how the caller writes a criterion of its own, with {} for the name.

    Raises:
        UserError: the name is not DialEval's and has no question, or is DialEval's and has one, or is invalid.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) or question == "":
        raise UserError(
            f"{place}: write {form.format('NAME')}, where NAME has letters, digits and underscores, and QUESTION is a "
            "text such as 'Is the reply tactful?'"
        )
    if name in SHIPPED and question:
        raise UserError(f"{place}: '{name}' is a criterion of DialEval; remove the question, or choose another name")
    if name not in SHIPPED and not question:
        raise UserError(
            f"{place}: DialEval has no criterion '{name}' ({nearest(name, SHIPPED)}); for your own, write its "
            f"question: {form.format(name)}"
        )
    return name, question or ""


@dataclass(frozen=True)
class _Source:
    """Transcripts as the configuration names them.

    Attributes:
        name: their name, after the file's.
        path: as seen from the folder, or absolute.
        n_dialogues: how many there are.
        systems: whose they are.
        has_pairs: whether systems met the same cases, so that they can be compared in pairs.
    """

    name: str
    path: str
    n_dialogues: int
    systems: tuple[str, ...]
    has_pairs: bool


def _distinct(models: Sequence[Model]) -> list[Model]:
    """Return models without repetitions.

    Raises:
        UserError: two models have one name.
    """
    known: dict[str, Model] = {}
    for one in models:
        other = known.setdefault(one.name, one)
        if other != one:
            raise UserError(
                f"'{one.name}' names both {other.model or 'an embedded model'} and {one.model or 'an embedded model'}"
                "; give each model its own name"
            )
    return list(known.values())


def _source(wish: Wish, folder: Path, notes: list[str]) -> _Source:
    """Return transcripts as the configuration names them, once they have been read.

    Raises:
        UserError: what is wrong with the file, and where.
    """
    assert wish.dialogues is not None
    path = wish.dialogues.expanduser()
    if not path.exists():
        on_hub = f"; for a data set of the Hugging Face Hub, write hf://datasets/{path}"
        hint = on_hub if re.fullmatch(r"[\w.-]+/[\w.-]+", str(path)) and not path.suffix else ""
        raise UserError(f"--dialogues: {path} does not exist; docs/transcripts.md describes the formats{hint}")
    name = _NOT_IN_NAMES.sub("-", path.resolve().stem).strip("-._+")[:60] or "transcripts"
    try:
        options = Options(
            system=wish.system,
            language=wish.language or Options.language,
            evaluated_role=wish.evaluated_role,
            columns=wish.columns,
        )
        reading = read_items(name, path, options)
    except UserError as error:
        names_a_field = re.search(r"`(columns|system|evaluated_role)\b", str(error))
        remedy = f"\nHere, set these fields with {wish.source_options}" if names_a_field else ""
        raise UserError(f"{error}{remedy}") from error
    items = reading.items
    notes += reading.notes
    cases: dict[str, set[str]] = {}
    for item in items:
        if item.case_id:
            cases.setdefault(item.case_id, set()).add(item.system)
    return _Source(
        name=name,
        path=_as_seen_from(folder, path),
        n_dialogues=len(items),
        systems=tuple(dict.fromkeys(item.system for item in items)),
        has_pairs=any(len(systems) > 1 for systems in cases.values()),
    )


def _as_seen_from(folder: Path, path: Path) -> str:
    """Return a path from the folder where both lie side by side, so that they can be moved together; else whole."""
    here, there = folder.expanduser().resolve(), path.resolve()
    if there.is_relative_to(here):
        return str(there.relative_to(here))
    if there.is_relative_to(here.parent):
        return str(Path("..") / there.relative_to(here.parent))
    return str(there)


# A folder in which `snakemake` alone runs the installed workflow.

NOT_NEEDED = (Path("README.md"), Path(".gitignore"))
"""Files that a run goes without."""


def make_folder(folder: Path, wish: Wish, notes: list[str] | None = None) -> list[Path]:
    """Write the files of a user's folder, and return the paths of the written ones.

    Nothing is written where one that a run needs is there already, or where the wish cannot be met. The page and what
    git passes over are left as they are, where the folder has its own.

    Args:
        folder: it may be there.
        wish: what its configuration is to be about.
        notes: what is worth knowing of the dialogues that the wish names is added here.

    Raises:
        UserError: a file is there already, the folder cannot be written, or the configuration would be wrong.
    """
    texts = folder_texts(wish, folder, notes)
    there = [path for path in texts if (folder / path).exists() or (folder / path).is_symlink()]
    texts = {path: text for path, text in texts.items() if path not in there or path not in NOT_NEEDED}
    there = [path for path in there if path not in NOT_NEEDED]
    if there:
        raise UserError(
            f"{folder} has {', '.join(map(str, there))} already; no file was changed; name another folder or "
            f"move {'it' if len(there) == 1 else 'them'} away"
        )
    write_texts(folder, texts)
    return list(texts)


def folder_texts(wish: Wish, folder: Path, notes: list[str] | None = None) -> dict[Path, str]:
    """Return the files of a user's folder by their path in it; see `make_folder`."""
    return {
        Path("config.yaml"): configuration_text(wish, folder, notes),
        Path("Snakefile"): rendered("Snakefile.j2"),
        Path("profiles", "default", "config.yaml"): _profile(),
        Path("README.md"): rendered("README.md.j2", wish=wish),
        Path(".gitignore"): rendered("gitignore.j2"),
    }


def write_texts(folder: Path, texts: Mapping[Path, str]) -> None:
    """Write files into a folder, which is created.

    Raises:
        UserError: one cannot be written.
    """
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"{error.filename or folder} cannot be written: {error.strerror or error}; name another folder"
        ) from error


def _profile() -> str:
    """Return the profile of the new folder: the project's settings, and the number of cores."""
    ours = (PROJECT / "profiles" / "default" / "config.yaml").read_text(encoding="utf-8")
    return (
        f"{ours}cores: all                      # number of concurrent jobs; --cores on the command line has priority\n"
    )


# The texts of a user's folder.


def rendered(template: str, **values: Any) -> str:
    """Return a text of this package with values in their places.

    Args:
        template: its file.
        values: what it names.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dialeval", "cli"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the templates are not HTML
    )
    environment.filters |= {"yaml": quoted, "counted": counted}
    return environment


def quoted(text: str) -> str:
    """Return a text as a YAML value on one line, in quotation marks if it needs them."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_./+-]*", text) and yaml.safe_load(text) == text:
        return text
    dumped: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10**6)
    return dumped.strip()

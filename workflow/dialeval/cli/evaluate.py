"""`dialeval.evaluate`: judge one table of dialogues in a folder, as `dialeval init` and `snakemake` do."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from dialeval.cli.init import Model, Wish, as_model, criterion, folder_texts, write_texts
from dialeval.config.corpora import Columns
from dialeval.corpora.transcripts.replies import columns_of
from dialeval.corpora.transcripts.turn_tables import places_of
from dialeval.errors import UserError, nearest
from dialeval.jobs.lifecycle import refuse_second_run
from dialeval.paths import replacing
from dialeval.report.export import Run, load

CONFIGURATION, DIALOGUES, RESULTS = Path("config.yaml"), Path("dialogues.csv"), Path("results")
_ARGUMENTS = "the arguments system, evaluated_role and columns"
_FIRST_LINE = "# Written by dialeval.evaluate, which replaces this file unless it was edited ({digest}).\n"
_SECONDS = 5.0
"""In which a run that got the same Ctrl-C begins to end by itself."""
_FAILED = re.compile(r"^(?:A job|[\d,]+ jobs) failed:\n(.*)", re.MULTILINE | re.DOTALL)
_ERROR = re.compile(r"^(?:\w*Error|\w*Exception)\b.*", re.MULTILINE | re.DOTALL)
_LAST = 20


def evaluate(
    frame: pd.DataFrame,
    judge: str | Sequence[str],
    criteria: str | Sequence[str] | Mapping[str, str] = ("coherence", "overall"),
    *,
    folder: str | os.PathLike[str] = "evaluation",
    base_url: str | None = None,
    api_key_env: str | None = None,
    pairs: bool | None = None,
    price_input: float | Mapping[str, float] | None = None,
    price_output: float | Mapping[str, float] | None = None,
    budget: float | None = None,
    system: str | None = None,
    evaluated_role: str | None = None,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
    cores: int | None = None,
) -> Run:
    """Return a finished run in which judges scored the dialogues of a table.

    DialEval writes the files of `dialeval init` into the folder and runs `snakemake` there, which prints its progress.
    A second call with the same folder sends only requests without a stored response. To add human labels or change
    other settings, edit `config.yaml` in the folder and run `snakemake` there.

    Args:
        frame: a row for each utterance, in order or with a column `turn`. Columns: `dialogue_id`, `speaker`, `text`;
            `system`, unless it is an argument; `case_id`, if systems share cases. Or a row for each reply, with
            `prompt` and `response` in place of speaker and text.
        judge: `NAME=MODEL`, where NAME is the name in tables and MODEL its name at the endpoint; or an embedded model
            such as `forest`; or a list of these.
        criteria: names of DialEval's criteria; or a mapping from names to questions, where "" stands for DialEval's
            question.
        folder: folder of the run.
        base_url: address of the endpoint; None for OpenAI's.
        api_key_env: name of the environment variable with the key; None for OPENAI_API_KEY, or with `base_url` for no
            key.
        pairs: whether judges compare systems in pairs. With None they do so if cases and judges allow it.
        price_input, price_output: price of a million prompt and response tokens; a mapping from judges to prices, if
            they differ.
        budget: maximum cost over all calls with this folder, in the currency of the prices; None for no limit. A run
            that reaches it stops. To continue, call `evaluate` again with a higher budget.
        system: name of the system, if the table has one system and no column of systems.
        evaluated_role: the speaker who is the system, if DialEval does not detect it.
        language: code of the dialogues' language, such as `de`, if the table has no such column; None for English.
        columns: columns with uncommon names, such as `{"text": "Body"}`.
        cores: number of jobs at once; None for all cores.

    Raises:
        UserError: the table, an argument or the folder is wrong, or the run failed.
    """
    place, named = Path(folder).expanduser().absolute(), dict(columns or {})
    judges = [as_model(text) for text in ([judge] if isinstance(judge, str) else judge)]
    if not judges:
        raise UserError("judge is empty; pass NAME=MODEL, or an embedded model such as 'forest'")
    for what, name in named.items():
        if what not in Columns.model_fields:
            raise UserError(f"columns: {what!r} is not a field; {nearest(str(what), Columns.model_fields)}")
        if not name:
            raise UserError(f"columns: {what!r} is {name!r}; give the name of a column, or remove the field")
    wish = Wish(
        base_url=base_url,
        api_key_env=api_key_env or (None if base_url else Wish.api_key_env),
        judges=judges,
        dialogues=place / DIALOGUES,
        system=system,
        evaluated_role=evaluated_role,
        language=language,
        columns=named,
        criteria=_questions(criteria),
        pairs=pairs,
        price_input=_by_judge("price_input", price_input, judges),
        price_output=_by_judge("price_output", price_output, judges),
        budget=budget,
        source_options=_ARGUMENTS,
        pairs_option="pairs=True",
    )
    _refuse_foreign(place)
    _write(place, _as_csv(frame, named, needs_system=system is None), wish)
    _run(place, cores)
    print(f"report: {place / RESULTS / 'report' / 'index.html'}")
    return load(place / RESULTS)


def _questions(criteria: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(criteria, str):
        criteria = [criteria]
    questions = criteria if isinstance(criteria, Mapping) else dict.fromkeys(criteria)
    return dict(
        criterion(name, question or None, f"criteria: {name!r}", "criteria={{'{}': 'QUESTION'}}")
        for name, question in questions.items()
    )


def _by_judge(name: str, given: float | Mapping[str, float] | None, judges: Sequence[Model]) -> dict[str, float]:
    """Return the price of each judge behind an endpoint.

    Raises:
        UserError: a price is given for a model that is no such judge.
    """
    names = [model.name for model in judges if model.model]
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, given)
    if unknown := [model for model in given if model not in names]:
        raise UserError(
            f"{name}: '{unknown[0]}' is no judge behind an endpoint ({', '.join(names) or 'there is none'}); correct "
            "the name, or leave its price out"
        )
    return dict(given)


def _as_csv(frame: pd.DataFrame, columns: Mapping[str, str], *, needs_system: bool) -> bytes:
    """Return a table of utterances or replies as CSV.

    Raises:
        UserError: a column is missing, a cell that is needed is empty or no text, or a turn is there twice.
    """
    if not isinstance(frame, pd.DataFrame):
        raise UserError(f"frame is a {type(frame).__name__}; give a pandas data frame with a row for each utterance")
    if frame.empty:
        raise UserError("frame has no rows; give it a row for each utterance")
    header = [str(name).strip() for name in frame.columns]
    of_reply = {what: header.index(name) for what, name in columns_of(header, columns).items()}
    try:
        places = of_reply or {what: place for what, (place, _) in places_of(Path("frame"), header, columns).items()}
    except UserError as error:
        raise UserError(f"{error}\nHere, set these fields with {_ARGUMENTS}") from None
    needed = ("prompt", "response") if of_reply else ("speaker",)
    missing = [name for name in (*needed, *["system"] * needs_system) if name not in places]
    if missing:
        remedy = f"name each in columns={{'{missing[0]}': NAME}}"
        remedy += ", or give system='NAME'" if "system" in missing else ""
        raise UserError(
            f"frame has no column {' and no column '.join(missing)} (columns: {', '.join(header)}); {remedy}"
        )
    cells = {what: frame.iloc[:, place] for what, place in places.items()}
    for what in ("dialogue_id", "system", "speaker", "text", "turn", *needed):
        _check_cells(what, header[places[what]], cells[what]) if what in cells else None
    if "turn" in cells:
        _refuse_repeated_turns(cells)
    try:
        return frame.set_axis(header, axis=1).to_csv(index=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UserError(
            f"frame: a cell contains half of a surrogate pair, {error.object[error.start : error.end]!a}; decode "
            f"the text again, or replace the character"
        ) from None


def _check_cells(what: str, column: str, cells: pd.Series[Any]) -> None:
    if (empty := cells[cells.isna()].index).size:
        raise UserError(
            f"frame, row {empty[0]!r}: column '{column}' is empty ({len(empty)} of {len(cells)} rows); fill it, or "
            "leave these rows out"
        )
    if what in ("text", "prompt", "response"):
        for row, value in cells.items():
            if not isinstance(value, str):
                raise UserError(
                    f"frame, row {row!r}: column '{column}' is {value!r:.40} ({type(value).__name__}), not a text; "
                    f"convert it to a string"
                )


def _refuse_repeated_turns(cells: Mapping[str, pd.Series[Any]]) -> None:
    """Refuse two dialogues of one id, which would become one dialogue."""
    named = [what for what in ("system", "dialogue_id", "turn", "speaker") if what in cells]
    keys = pd.DataFrame({what: cells[what].astype(str) for what in named})
    repeated = keys[keys.duplicated()]
    if len(repeated):
        about = ", ".join(f"{what} {repeated.iloc[0][what]}" for what in named)
        raise UserError(
            f"frame, row {repeated.index[0]!r}: {about} occurs twice; give each dialogue of a system its own "
            f"dialogue_id, and each turn of a dialogue its own number"
        )


# The folder


def _refuse_foreign(folder: Path) -> None:
    """Check that a folder is new, or that `evaluate` alone wrote its configuration.

    Raises:
        UserError: it is not, or another run uses it.
    """
    path = folder / CONFIGURATION
    if path.exists() and not _is_ours(path.read_text(encoding="utf-8", errors="replace")):
        raise UserError(
            f"{path} was written or edited by hand, and evaluate would replace it. Run `snakemake` in that folder, "
            f"or pass another folder"
        )
    if not path.exists() and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} contains other files; pass another folder: evaluate(..., folder='NAME')")
    refuse_second_run(folder / RESULTS)


def _is_ours(text: str) -> bool:
    first, _, rest = text.partition("\n")
    return f"{first}\n" == _signed(rest).partition("\n")[0] + "\n"


def _signed(text: str) -> str:
    return _FIRST_LINE.format(digest=hashlib.sha256(text.encode()).hexdigest()[:12]) + text


def _write(folder: Path, table: bytes, wish: Wish) -> None:
    """Write the table and the files of `dialeval init`; after an error the folder is as before."""
    path, is_new = folder / DIALOGUES, not folder.exists()
    before = path.read_bytes() if path.exists() else None
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(table)
        texts = folder_texts(wish, folder)
    except BaseException:
        with suppress(OSError):
            path.unlink() if before is None else path.write_bytes(before)
            folder.rmdir() if is_new else None
        raise
    texts[CONFIGURATION] = _signed(texts[CONFIGURATION])
    kept = {name: text for name, text in texts.items() if name == CONFIGURATION or not (folder / name).exists()}
    write_texts(folder, kept)


# The run


def _run(folder: Path, cores: int | None) -> None:
    """Run `snakemake` in a folder and print its progress.

    Raises:
        UserError: the run failed.
    """
    command = [sys.executable, "-m", "snakemake", *(["--cores", str(cores)] if cores else [])]
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        try:
            _follow(process, lines)
        except BaseException:
            _stop(process)
            words = f"stopped; stored responses are kept: call evaluate with folder='{folder}' again to resume"
            print(words, flush=True)
            raise
    if process.returncode:
        raise UserError(
            f"the run in {folder} failed. Fix the cause and call evaluate again to resume it.\n{_cause(lines)}"
        )


def _follow(process: subprocess.Popen[str], lines: list[str]) -> None:
    """Print the progress of a run: the lines between Snakemake's table of jobs and its last words, and the usage."""
    assert process.stderr is not None
    is_progress = False
    for line in process.stderr:
        lines.append(line)
        is_progress = is_progress and not line.startswith(("Complete log", "Shutting down"))
        if line.strip() and (is_progress or line.startswith(("In this run: ", "This run made"))):
            print(line, end="", flush=True)
        is_progress = is_progress or re.match(r"total +\d+$", line) is not None


def _stop(process: subprocess.Popen[str]) -> None:
    """End a run as Ctrl-C does; a terminal sends its Ctrl-C to the run, too, and a second one would disturb it."""
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_SECONDS)
        return
    process.send_signal(signal.SIGINT)
    process.communicate()


def _cause(lines: Sequence[str]) -> str:
    text = "".join(lines)
    found = _FAILED.search(text)
    if found:
        return textwrap.indent(textwrap.dedent(found[1].strip("\n")), "  ").rstrip()
    error = _ERROR.search(text)
    return textwrap.indent(error[0].strip() if error else "".join(lines[-_LAST:]), "  ")

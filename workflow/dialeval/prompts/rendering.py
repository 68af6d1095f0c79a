"""Prompt templates: their location, their includes, and the rendering of dialogues.

A dialogue is shown to a judge with one line per utterance, `A: text<chat_end>`. What a chatbot wrote can neither end
its own line nor forge a mark: line breaks become blanks, and a `<chat_end>` inside an utterance loses its brackets, as
do the marks of a model's thinking and of its messages, `</think>` or `<|im_end|>`.

`str()` of one, its lines one by one, and slices of it are all that there is. So a template of a user's own can lay a
dialogue out as it likes, and its utterances can still neither end their line nor forge a mark.

`ours` are the templates in `prompts/`. `papers` follow the prompts of the four papers, in our words; where it has no
template, that of `ours` is used.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, overload

from dialeval.errors import UserError


class Templates:
    """The prompt templates of a run.

    Args:
        directory: folder whose templates replace ours of the same name.
        prompt_set: the set whose templates do so behind that folder's.
    """

    def __init__(self, directory: Path | None = None, prompt_set: PromptSet = "ours") -> None:
        import jinja2  # stages that parse answers import this module and render nothing
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        self._environment = ImmutableSandboxedEnvironment(  # attributes that begin with _ are refused
            loader=jinja2.FileSystemLoader(template_folders(directory, prompt_set)),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # prompts are text, not HTML
            keep_trailing_newline=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals |= {
            "end_mark": END_MARK,
            "render_dialogue": render_dialogue,
        }

    def render(self, name: str, **values: object) -> str:
        """Return a template filled with values.

        Raises:
            UserError: the template is not there, not UTF-8 or not valid, uses a value that it is not given, or computes
            something that fails.
        """
        import jinja2

        try:
            return self._environment.get_template(name).render(**values).strip()
        except jinja2.TemplateNotFound as error:
            raise UserError(
                f"prompt template '{error.name}' does not exist; add it to prompts.directory, or correct its name"
            ) from None
        except jinja2.TemplateSyntaxError as error:
            raise UserError(
                f"prompt template {error.filename}, line {error.lineno}: {error.message}; correct this line"
            ) from None
        except jinja2.UndefinedError as error:
            raise UserError(
                f"prompt template '{name}': {error.message}; its variables are {', '.join(values)}"
            ) from None
        except UnicodeDecodeError as error:
            place = f"not UTF-8 (byte 0x{error.object[error.start]:02x} at character {error.start + 1})"
            raise UserError(f"prompt template '{name}': {place}; save the file as UTF-8") from None
        except (jinja2.TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise UserError(
                f"prompt template '{name}' cannot be filled in: {type(error).__name__}: {error!s:.200}; correct its "
                f"expressions"
            ) from error


def render_dialogue(utterances: Sequence[str], speakers: Sequence[str] | None = None) -> str:
    """Return a dialogue as lines `A: text<chat_end>`, see `ShownDialogue`; a rendered one unchanged."""
    return str(utterances if isinstance(utterances, ShownDialogue) else ShownDialogue(utterances, speakers))


# A dialogue as a template sees it

END_MARK = "<chat_end>"
_MARK_INSIDE = re.compile(r"[<＜]\s{0,8}[/／]?\s{0,8}chat[_＿ ]end\s{0,8}[>＞]", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class ShownDialogue(Sequence[str]):
    """A dialogue as lines `A: text<chat_end>`.

    Args:
        speakers: the speaker of each, as the source names them; they are shown as A, B, C, ... in the order in which
            they begin to speak, since a name may give the answer away. None for two speakers in turn.
    """

    __slots__ = ("_lines", "_text")

    def __init__(self, utterances: Sequence[str], speakers: Sequence[str] | None = None) -> None:
        letters = letters_of([str(turn % 2) for turn in range(len(utterances))] if speakers is None else speakers)
        self._show(f"{letter}: {one_line(text)}{END_MARK}" for letter, text in zip(letters, utterances, strict=True))

    def _show(self, lines: Iterable[str]) -> None:
        self._lines = tuple(lines)
        self._text = "\n".join(self._lines)

    def __str__(self) -> str:
        return self._text

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> ShownDialogue: ...

    def __getitem__(self, place: int | slice) -> str | ShownDialogue:
        if isinstance(place, int):
            return self._lines[place]
        part = ShownDialogue(())
        part._show(self._lines[place])
        return part


class SpokenDialogue(ShownDialogue):
    """A dialogue as lines with speakers, `Human: text`, as the source names them."""

    __slots__ = ()

    def __init__(self, utterances: Sequence[str], speakers: Sequence[str]) -> None:
        self._show(f"{shown_name(name)}: {one_line(text)}" for name, text in zip(speakers, utterances, strict=True))


def shown_name(name: str) -> str:
    """Return a speaker's name as it is shown before an utterance."""
    return one_line(name[:1].upper() + name[1:])


def letters_of(speakers: Sequence[str]) -> list[str]:
    """Return the letter of each utterance's speaker: A to Z in the order in which they begin, then A2 to Z2 ..."""
    order = {name: number for number, name in enumerate(dict.fromkeys(speakers))}
    return [_letter(order[name]) for name in speakers]


def one_line(text: str) -> str:
    """Return a text without line breaks and marks, all other blanks as they are."""
    if _BREAK.search(text):  # few have one, and all blanks of a text are many
        text = _BLANKS.sub(lambda blanks: " " if _BREAK.search(blanks[0]) else blanks[0], text)
    return without_marks(_MARK_INSIDE.sub("chat end", text)).strip()


def _letter(number: int) -> str:
    turn, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(turn + 1) if turn else "")


PromptSet = Literal["ours", "papers"]
OURS = Path(__file__).parent
PAPERS = "papers"
"""Folder of the papers' set, below ours."""


def template_folders(directory: Path | None = None, prompt_set: PromptSet = "ours", ours: Path = OURS) -> list[Path]:
    """Return the folders of templates; the first that has one of a name gives it.

    Args:
        directory: a user's folder, whose templates replace all others of the same name.
        ours: where our own templates lie.
    """
    own = [directory.expanduser()] if directory is not None else []
    return [*own, *([ours / PAPERS] if prompt_set == PAPERS else []), ours]


def uses_paper_prompts(templates: Iterable[str], directory: Path | None, prompt_set: PromptSet) -> bool:
    """Return whether all templates are of the papers' set, and none of a user's folder.

    What that set has no template for is no prompt that a paper prints, so that ours is as good as any.
    """
    own = directory.expanduser() if directory is not None else None
    return prompt_set == PAPERS and not any(own and (own / name).is_file() for name in templates)


_REFERS = re.compile(rb"\{%[-+]?\s*(include|import|from|extends)\b")


def with_references(names: Iterable[str], folders: Sequence[Path]) -> dict[str, bytes]:
    """Return the contents of templates, if they exist, and of those that they include, import or extend.

    Where a name is computed, every template of the folders counts.

    Args:
        folders: where they lie; the first that has one of a name gives it.
    """
    found: dict[str, bytes] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if name in found or path is None:
            continue
        found[name] = path.read_bytes()
        referred = _referred(found[name])
        if None in referred:
            waiting += [path.name for folder in folders for path in folder.glob("*.j2")]
        waiting += [other for other in referred if other is not None]
    return found


@cache
def _referred(template: bytes) -> tuple[str | None, ...]:
    """Return the names that a template refers to; None stands for a computed one."""
    if not _REFERS.search(template):
        return ()
    import jinja2  # as above
    from jinja2.meta import find_referenced_templates

    try:
        return tuple(find_referenced_templates(jinja2.Environment(autoescape=False).parse(template.decode("utf-8"))))
    except (jinja2.TemplateSyntaxError, UnicodeDecodeError):
        return ()  # rendering reports the mistake


# Marks around the reasoning of a model. Reasoning is removed only at the beginning of a response; a later mark is a
# quotation or a forgery, which is reported.

OPENING, CLOSING = "<think>", "</think>"
_NAME = r"(?:thinking|think|thoughts?|reasoning|scratchpad)"
_THINKING = (
    rf"[<＜〈◁]\s{{0,3}}[/／]?\s{{0,3}}(?:\w{{1,12}}[:：|｜])?{_NAME}(?:[:_]\w{{1,20}})?\s{{0,3}}[/／]?[>＞〉▷]"
    r"|(?-i:\[/?THINK\])"
    r"|<[|｜](?:[a-z]{1,12}:)?(?:START|END|BEGIN|content)?_?(?:OF_)?(?:THINK|THINKING|THOUGHT)(?::[a-z]{1,12})?[|｜]>"
    r"|<[|｜](?:channel|message)[|｜]?>|<(?:channel|message)[|｜]>"
)
_MARK = re.compile(rf"{_THINKING}|\Aanalysis(?=[\s\S]{{0,100000}}assistantfinal)", re.IGNORECASE)
_CONTROL = re.compile(
    rf"{_THINKING}|<[|｜][^\s<>|｜]{{1,60}}[|｜]>|<(?:start|end)_of_(?:turn|utterance|text)>|</?s>|<[be]os>|<</?SYS>>"
    r"|(?-i:\[/?(?:INST|SYSTEM_PROMPT)\])",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"[<＜〈◁\[]")
"""What every mark of thinking or of messages begins with."""
_BRACKETS = "<>＜＞〈〉◁▷[]|｜ \t\r\n"


def without_thinking(text: str) -> str:
    """Return an answer without the reasoning that it begins with; empty if the reasoning does not end."""
    return split_thinking(text)[0]


def split_thinking(
    text: str, opening: str = OPENING, closing: str = CLOSING, *, opened: bool = False
) -> tuple[str, str]:
    """Return the answer, and the reasoning between marks at its beginning.

    The first closing mark ends it; whatever looks like one later on belongs to the answer. Thinking that never ends
    leaves an empty answer.

    Args:
        opening: the mark that begins its thinking.
        closing: the mark that ends it.
        opened: whether the prompt ended with the opening mark, which the answer then need not repeat.
    """
    start = text.lstrip()
    if not opened and not start.startswith(opening):
        return text, ""
    thinking, found, answer = start.removeprefix(opening).partition(closing)
    return (answer.lstrip() if found else ""), thinking.strip()


def thinking_mark(text: str) -> str:
    """Return the first mark of reasoning in an answer, empty if there is none."""
    found = _MARK.search(text)
    return found[0] if found else ""


def without_marks(text: str) -> str:
    """Return a text whose marks of thinking, and of messages, are words in brackets: `</think>` becomes `(/think)`.

    A text without any is returned as it is.
    """
    if not _BEGINS.search(text):
        return text
    return _CONTROL.sub(lambda mark: f"({unicodedata.normalize('NFKC', mark[0]).strip(_BRACKETS)})", text)

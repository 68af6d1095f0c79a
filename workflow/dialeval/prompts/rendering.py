"""Templates and dialogues become prompt text.

A dialogue is shown to a judge with one line per utterance, `A: text<chat_end>`. What a chatbot wrote can neither end
its own line nor forge a mark: line breaks become blanks and a `<chat_end>` inside an utterance loses its brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import jinja2

from dialeval.errors import UserError

END_MARK = "<chat_end>"
_MARK_INSIDE = re.compile(r"<\s*/?\s*chat[_ ]end\s*>", re.IGNORECASE)
_BREAKS = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+\s*")


class Templates:
    """The prompt templates of a run.

    Args:
        directory: folder whose templates replace ours of the same name.
    """

    def __init__(self, directory: Path | None = None) -> None:
        folders = [Path(__file__).parent] if directory is None else [directory.expanduser(), Path(__file__).parent]
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # prompts are text, not HTML
            keep_trailing_newline=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals |= {
            "end_mark": END_MARK,
            "render_dialogue": render_dialogue,
            "render_speakers": render_speakers,
        }

    def render(self, name: str, **values: object) -> str:
        """Returns a template filled with values.

        Raises:
            UserError: the template is not there, not valid, or uses a value that it is not given.
        """
        try:
            return self._environment.get_template(name).render(**values).strip()
        except jinja2.TemplateNotFound:
            raise UserError(f"there is no prompt template '{name}'") from None
        except jinja2.TemplateSyntaxError as error:
            raise UserError(f"prompt template {error.filename}, line {error.lineno}: {error.message}") from None
        except jinja2.UndefinedError as error:
            raise UserError(f"prompt template '{name}': {error.message}; it is given {', '.join(values)}") from None


def render_dialogue(utterances: Sequence[str]) -> str:
    """Returns a dialogue as lines `A: text<chat_end>` and `B: text<chat_end>` in turn."""
    return "\n".join(f"{'AB'[turn % 2]}: {_one_line(text)}{END_MARK}" for turn, text in enumerate(utterances))


def render_speakers(speakers: Sequence[str], utterances: Sequence[str]) -> str:
    """Returns utterances as lines with who says them, `Human: text`, as the source names the speakers."""
    return "\n".join(f"{name.capitalize()}: {_one_line(text)}" for name, text in zip(speakers, utterances, strict=True))


def _one_line(text: str) -> str:
    return _MARK_INSIDE.sub("chat end", _BREAKS.sub(" ", text)).strip()

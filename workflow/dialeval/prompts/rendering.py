"""Templates and dialogues become prompt text.

A dialogue is shown to a judge with one line per utterance, `A: text<chat_end>`. What a chatbot wrote can neither end
its own line nor forge a mark: line breaks become blanks, and a `<chat_end>` inside an utterance loses its brackets, as
do the marks of a model's thinking and of its messages, `</think>` or `<|im_end|>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialeval.errors import UserError
from dialeval.prompt_sets import PromptSet, template_folders
from dialeval.prompts.shown import END_MARK, ShownDialogue


class Templates:
    """The prompt templates of a run.

    Args:
        directory: folder whose templates replace ours of the same name.
        prompt_set: the set whose templates do so behind that folder's.
    """

    def __init__(self, directory: Path | None = None, prompt_set: PromptSet = "ours") -> None:
        import jinja2  # those who read answers share modules with those who ask, and render nothing
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
        """Returns a template filled with values.

        Raises:
            UserError: the template is not there, not UTF-8 or not valid, uses a value that it is not given, or computes
            something that fails.
        """
        import jinja2

        try:
            return self._environment.get_template(name).render(**values).strip()
        except jinja2.TemplateNotFound as error:
            raise UserError(f"there is no prompt template '{error.name}'") from None
        except jinja2.TemplateSyntaxError as error:
            raise UserError(f"prompt template {error.filename}, line {error.lineno}: {error.message}") from None
        except jinja2.UndefinedError as error:
            raise UserError(f"prompt template '{name}': {error.message}; it is given {', '.join(values)}") from None
        except UnicodeDecodeError as error:
            place = f"not UTF-8 (byte 0x{error.object[error.start]:02x} at character {error.start + 1})"
            raise UserError(f"prompt template '{name}': {place}; save the file as UTF-8") from None
        except (jinja2.TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise UserError(
                f"prompt template '{name}' cannot be filled in: {type(error).__name__}: {error!s:.200}; correct what "
                "it computes"
            ) from error


def render_dialogue(utterances: Sequence[str], speakers: Sequence[str] | None = None) -> str:
    """Returns a dialogue as lines `A: text<chat_end>`, see `ShownDialogue`; one that is shown already is as it is."""
    return str(utterances if isinstance(utterances, ShownDialogue) else ShownDialogue(utterances, speakers))

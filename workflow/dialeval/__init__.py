"""DialEval: how well does a chat model hold a conversation, and how far can its judge be trusted?

`evaluate` judges a table of dialogues, `load` opens a finished run, `compare` compares two, `load_config` reads a
configuration, and a `UserError` explains a mistake in one of them. `docs/python.md` lists the public functions of the
modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dialeval.cli.evaluate import evaluate
    from dialeval.config.loading import load_config
    from dialeval.errors import UserError
    from dialeval.report.comparison import compare
    from dialeval.report.export import Run, load

__all__ = ["Run", "UserError", "compare", "evaluate", "load", "load_config"]
__version__ = "0.1.0"

_MODULES = {
    "Run": "dialeval.report.export",
    "UserError": "dialeval.errors",
    "compare": "dialeval.report.comparison",
    "evaluate": "dialeval.cli.evaluate",
    "load": "dialeval.report.export",
    "load_config": "dialeval.config.loading",
}


def __getattr__(name: str) -> Any:
    """Return a public name from its module, which is imported at its first use: every stage imports this package."""
    if name not in _MODULES:
        raise AttributeError(f"module 'dialeval' has no attribute '{name}'")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])

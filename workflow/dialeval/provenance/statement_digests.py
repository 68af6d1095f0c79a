"""What tells one statement of our sources from another: all that can change a result, no words for people.

Comments and layout are gone once a source is parsed. Here docstrings are left out too, the words of messages and
remarks, and modules of ours: what is imported from them is told by its name alone. Words for readers are told apart.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = "dialeval"
WORDS: dict[str, frozenset[str]] = {
    "Field": frozenset({"description", "json_schema_extra"}),
    "argparse.ArgumentParser": frozenset({"description", "prog"}),
    "parser.add_argument": frozenset({"help", "metavar"}),
    **dict.fromkeys(
        ("Table", "differences"),
        frozenset({"row", "title", "caption", "columns", "cells", "numbers", "kinds", "shown"}),
    ),
}
"""Arguments, by the name of what is called, that are words for readers: no stage that names the constant uses them."""
MESSAGES = frozenset({"UserError", "BudgetUsedUp", "_fail"})
"""What ends a stage with words. What it is called with counts for nothing: a stage that failed has made nothing, and an
error whose words enter a table has a name of its own."""
IN_CONFIGURATION = frozenset({"ValueError"})
"""The same in the modules of the configuration, of which every job gets one that was found right."""
REMARKS = frozenset({"print", "Progress", "parser.error", "sys.exit"})
"""What says something on the terminal and goes on. Its texts count for nothing; what is computed for them does."""
_TERMINAL = frozenset({"sys.stdout", "sys.stderr"})
_UNSAID = ("ctx", "kind", "type_comment")


def messages_in(path: Path) -> frozenset[str]:
    """Returns what is called with words that count for nothing, in a module of ours."""
    return MESSAGES | (IN_CONFIGURATION if path.parent.name == "config" else frozenset())


class Spelling:
    """Tells one node from any other, with all that it holds.

    Args:
        messages: what is called with words that count for nothing.
        imported: names that the module imports from modules of ours.

    Attributes:
        said: what tells it.
        nodes: those that count.
        words: arguments that are words for readers, told apart from the rest.
    """

    def __init__(self, messages: frozenset[str], imported: frozenset[str] = frozenset()) -> None:
        self.said: list[str] = []
        self.nodes: list[ast.AST] = []
        self.words: list[ast.keyword] = []
        self._messages = messages
        self._imported = imported
        self._taken_of: dict[str, list[str]] = {}

    def spell(self, node: ast.AST) -> None:
        """Appends a node."""
        self.nodes.append(node)
        if is_import_of_ours(node):
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._imported:
            self.nodes.append(node.value)
            of = self._taken_of.setdefault(node.attr, [])
            if node.value.id not in of:
                of.append(node.value.id)
            self.said += ["Name", repr(node.attr), *(["of"] * of.index(node.value.id))]
            return
        self.said.append(type(node).__name__)
        called = _dotted(node.func) if isinstance(node, ast.Call) else ""
        if called in self._messages:
            self.said.append(called)
        elif isinstance(node, ast.Call) and called in REMARKS and _is_said_on_the_terminal(node):
            self.said.append(called)
            for argument in (*node.args, *node.keywords):
                self._spell_remark(argument)
        else:
            self._spell_fields(node, WORDS.get(called, frozenset()))

    def _spell_fields(self, node: ast.AST, unread: frozenset[str]) -> None:
        block = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for name in node._fields:
            if name in _UNSAID:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                self.said.append("[")
                for part in value:
                    if isinstance(part, ast.keyword) and part.arg in unread:
                        self.words.append(part)
                    elif isinstance(part, ast.AST):
                        if not (block and name == "body" and is_docstring(part)):
                            self.spell(part)
                    else:
                        self.said.append(repr(part))
                self.said.append("]")
            elif isinstance(value, ast.AST):
                self.spell(value)
            else:
                self.said.append(repr(value))

    def _spell_remark(self, node: ast.AST) -> None:
        """Appends what is computed for a remark, without its texts."""
        match node:
            case ast.Constant(value=str()):
                pass
            case ast.JoinedStr(values=parts):
                for part in parts:
                    self._spell_remark(part)
            case ast.FormattedValue(value=value) | ast.Starred(value=value) | ast.keyword(value=value):
                self._spell_remark(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                self._spell_remark(left)
                self._spell_remark(right)
            case ast.IfExp(test=test, body=body, orelse=other):
                self.spell(test)
                self._spell_remark(body)
                self._spell_remark(other)
            case _:
                self.spell(node)


def _dotted(node: ast.expr) -> str:
    """Returns `name` or `name.attribute`; empty for what is neither."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_said_on_the_terminal(call: ast.Call) -> bool:
    """Returns whether a call writes into no file."""
    return all(_dotted(word.value) in _TERMINAL for word in call.keywords if word.arg in ("file", None))


def is_import_of_ours(node: ast.AST) -> bool:
    """Returns whether a node imports from a module of ours."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE


def is_for_types_alone(node: ast.AST) -> bool:
    """Returns whether a statement is `if TYPE_CHECKING: ...`, which never runs."""
    return isinstance(node, ast.If) and _dotted(node.test) == "TYPE_CHECKING" and not node.orelse


def is_docstring(node: ast.AST) -> bool:
    """Returns whether a statement is a text and nothing else."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)

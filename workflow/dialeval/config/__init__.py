"""The typed configuration: every field with its description, every error with its remedy.

`load_config` is called before any rule is defined, so a mistake is found before any job runs. The JSON schema in
`workflow/schemas/config.schema.json` and `docs/configuration.md` are generated from these classes
(`python -m dialeval.report.reference`).

`from dialeval.config import ...` gives what `everything` names, and loads all of it. The library's own modules import
from the module that defines what they need: a job starts with a fraction of the classes, and its fingerprint follows
names to where they stand.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialeval.config.public import *  # noqa: F403
else:

    def __getattr__(name):
        public = import_module("dialeval.config.public")
        if name not in public.__all__:
            raise AttributeError(f"module 'dialeval.config' has no attribute '{name}'")
        return getattr(public, name)

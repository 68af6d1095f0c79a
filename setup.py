"""What a wheel carries beside the library: the workflow's own files, in `dialeval/shipped`."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = ("Snakefile", "config.yaml", "configs", "docs", "envs", "profiles", "results/README.md", "rules")
"""Files and folders of the project, which lie in the wheel as they lie here; editable, they stay where they are."""


class WithWorkflow(build_py):
    """Copies the workflow's files into the package that is built."""

    def run(self) -> None:
        """Build the package, with the workflow's files unless these stay where they are."""
        super().run()
        if not self.editable_mode:
            for target, source in self.shipped().items():
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def shipped(self) -> dict[str, str]:
        """Return the workflow's files by the place in the package that they are copied to."""
        folder = Path(self.build_lib, "dialeval", "shipped")
        named = [Path(name) for name in SHIPPED]
        files = [path for name in named for path in ([name] if name.is_file() else sorted(name.rglob("*")))]
        hidden = ("__pycache__", ".")
        kept = [path for path in files if path.is_file() and not any(part.startswith(hidden) for part in path.parts)]
        return {str(folder / path): str(path) for path in kept}

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return what is built."""
        return super().get_outputs(include_bytecode) + list(self.shipped())

    def get_source_files(self) -> list[str]:
        """Return what an archive of the sources has to hold."""
        return super().get_source_files() + list(self.shipped().values())


setup(cmdclass={"build_py": WithWorkflow})

"""Empty files for all that the shipped configurations read, so that Snakemake can plan their runs."""

from __future__ import annotations

from pathlib import Path

from dialeval.config import Config, load_config, read_config_file
from dialeval.corpora import comp_analysis
from dialeval.corpora.robustness_sets import SETS

ROOT = Path(__file__).parents[2]


def with_data(folder: Path) -> None:
    """Make a file or folder for everything that the shipped configurations read."""
    for path in (ROOT / "configs").glob("*.yaml"):
        raw = read_config_file(path)
        config = load_config({**raw, "data_dir": str(folder)}, files_are_there=False)
        for file in files_of(config):
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix:
                file.touch()
            else:
                file.mkdir(exist_ok=True)
                (file / "one.txt").touch()


def files_of(config: Config) -> list[Path]:
    found = [config.corpus_path(name) for name in config.corpora]
    found += [config.battles_path(name) for name in config.battles]
    found += [config.transcripts_path(name) for name in config.transcripts]
    found += config.published_sources().values()
    for name, rated in config.metaeval.corpora.items() if config.metaeval else ():
        path = config.rated_path(name)
        found.append(path)
        if path and rated.reader in ("comp_turn", "comp_dialogue"):
            of_turns, of_dialogues = comp_analysis.turn_source_files, comp_analysis.dialogue_source_files
            found += (of_turns if rated.reader == "comp_turn" else of_dialogues)(path)
    damaged = config.published_perturbations()
    found += [damaged / file for published in SETS.values() for file in published.files] if damaged else []
    return [path for path in found if path is not None]

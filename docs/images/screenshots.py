"""Makes the README's screenshots of the report anew, from a finished default run; needs Chromium.

python docs/images/screenshots.py results
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
SHOTS = {
    "report_leaderboard": ("botchat", 1280, 900),
    "report_dialogue": ("cases=dialogues&of=selfchat&case=en-012&system=retrieval&protocol=arena/16", 1280, 1000),
}
"""File -> the address in the page, width and height of the window."""
COLOURS = 64


def main(results: Path) -> int:
    """Takes every shot, and says how large each file is."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    page = results.resolve() / "report" / "index.html"
    if browser is None or not page.exists():
        print(f"needs Chromium and {page}", file=sys.stderr)
        return 1
    for name, (address, width, height) in SHOTS.items():
        with tempfile.TemporaryDirectory() as folder:
            shot = Path(folder) / "shot.png"
            subprocess.run(
                [
                    browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={folder}/profile", f"--screenshot={shot}", f"--window-size={width},{height}",
                    "--virtual-time-budget=20000", f"{page.as_uri()}#{address}",
                ],
                check=True,
                capture_output=True,
            )  # fmt: skip
            few = Image.open(shot).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(HERE / f"{name}.png", optimize=True)
        print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the results of the default run")
    sys.exit(main(parser.parse_args().results))

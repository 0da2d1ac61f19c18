"""Take a picture of an HTML report with headless Chromium: `python scripts/screenshot.py report.html report.png`."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=3000",
)


def browser() -> str | None:
    """Return the path of Chromium or Chrome, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def screenshot(page: Path, picture: Path, *, width: int = 1280, height: int = 2400, dark: bool = False) -> None:
    """Render a page of this machine into a PNG file.

    Raises:
        SystemExit: there is no browser, or it wrote no picture.
    """
    program = browser()
    if program is None:
        raise SystemExit("no browser found. Install Chromium: apt install chromium")
    with tempfile.TemporaryDirectory() as profile:
        command = [
            program,
            *FLAGS,
            *(["--blink-settings=preferredColorScheme=0"] if dark else []),
            f"--user-data-dir={profile}",
            f"--screenshot={picture.resolve()}",
            f"--window-size={width},{height}",
            page.resolve().as_uri(),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if not picture.is_file():
        raise SystemExit(f"{program} wrote no picture:\n{ended.stderr[-2000:]}")


def main() -> None:
    """Read the command line and take the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=2400)
    parser.add_argument("--dark", action="store_true")
    given = parser.parse_args()
    screenshot(given.page, given.picture, width=given.width, height=given.height, dark=given.dark)


if __name__ == "__main__":
    main()

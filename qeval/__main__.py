"""`qeval` and `python -m qeval`: the program, from its first line on."""

from __future__ import annotations

import sys
import traceback

from qeval.errors import ExitCode
from qeval.streams import settle


def main() -> None:
    """Run the command line; what hinders its loading, such as a package that is missing, is a fault and no verdict."""
    settle()
    try:
        from qeval.cli.main import entry
    except KeyboardInterrupt:
        raise SystemExit(int(ExitCode.INTERRUPTED)) from None
    except BaseException:  # noqa: BLE001 - Python itself would end with 1, which means that a candidate regressed
        sys.stderr.write(traceback.format_exc())
        raise SystemExit(int(ExitCode.INTERNAL)) from None
    entry()


if __name__ == "__main__":
    main()

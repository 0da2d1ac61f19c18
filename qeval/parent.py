"""A process that ends when its parent does."""

from __future__ import annotations

import os
import threading
from multiprocessing import connection, parent_process


def die_with_parent() -> None:
    """End this process, which multiprocessing has started, as soon as its parent ends, however that happens."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

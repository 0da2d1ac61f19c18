"""`qeval formats`: which formats this machine can load, and if not, why."""

from __future__ import annotations

from typing import Annotated

import typer

from qeval.cli.output import Json, console, print_json


def formats(
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto", as_json: Json = False
) -> None:
    """List the formats, whether each can load on this machine, and if not, why and what to install.

    **Example**

    `qeval formats --device cpu`
    """
    from rich.table import Table

    from qeval.runner.plan import detect_device
    from qeval.variants.base import list_formats

    where = detect_device(device)
    listed = list_formats(where)
    table = Table("format", "family", "bits", "loads here", "about", title=f"formats on {where}")
    for entry in listed:
        bits = f"{entry.format.nominal_bits:g}"
        table.add_row(entry.format.name, entry.format.family, bits, entry.why or "yes", entry.format.description)
    console(as_json=as_json).print(table)
    if as_json:
        print_json(
            {
                "device": where,
                "formats": [
                    {
                        "name": entry.format.name,
                        "family": entry.format.family,
                        "nominal_bits": entry.format.nominal_bits,
                        "available": entry.available,
                        "why_not": entry.why or None,
                    }
                    for entry in listed
                ],
            }
        )

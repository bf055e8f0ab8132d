#!/usr/bin/env python3
"""Builds methodology/data/ecologits-models.json from a pinned package, byte for byte reproducibly.

    pip download --no-deps ecologits==0.11.3 --dest /tmp/models
    python3 methodology/scripts/build-known-models.py /tmp/models

Each row is a model as its provider names it, with billions of parameters: all of them (`total`) and those that serve a
token (`active`), each a number or the ends of a range. `estimated` marks counts that its maker has not published.
`maker` is whoever serves a model that nobody else does; tokens per second and seconds to the first token are those of its service.
"""
import json
import re
import sys
from pathlib import Path

from tables import ECOLOGITS, MPL, member, write

NOTICE = MPL.format(file="ecologits/data/models.json") + (
    ". Changed: the form; of the sources of each model the first is kept; warnings other than of an architecture that is not "
    "published, and models whose weights are packed or whose name stands for changing models, are left out."
)
# Their counts are of packed weights, which hold several parameters each, or rounded.
PACKED = re.compile(r"-(4bit|awq|gptq|gguf)$", re.IGNORECASE)
# It names no model: what it stands for changes.
UNSPECIFIC = {"chat-latest"}


def amount(value):
    """A count, or the ends of a range."""
    if isinstance(value, dict):
        return [value["min"], value["max"]]
    return value


def row_of(model: dict, aliases: dict) -> dict:
    parameters = model["architecture"]["parameters"]
    is_moe = model["architecture"]["type"] == "moe"
    total = amount(parameters["total"] if is_moe else parameters)
    active = amount(parameters["active"]) if is_moe else total
    names = [model["name"], *aliases.get((model["provider"], model["name"]), [])]
    row = {"names": names, "total": total, "active": active}
    if "model-arch-not-released" in (model["warnings"] or []):
        row["estimated"] = True
    if "/" not in model["name"]:
        row["maker"] = model["provider"]
    deployment = model["deployment"] or {}
    for name, field in (("tps", "tokens_per_s"), ("ttft", "ttft_s")):
        if deployment.get(name) is not None:
            row[field] = deployment[name]
    return row | {"source": model["sources"][0]}


def main() -> None:
    data = json.loads(member(Path(sys.argv[1]), ECOLOGITS, "ecologits/data/models.json"))
    aliases: dict = {}
    known = {(each["provider"], each["name"]) for each in data["models"]}
    for each in data["aliases"]:
        # An alias stands for a model in either direction.
        name, other = each["name"], each["alias"]
        if (each["provider"], name) not in known:
            name, other = other, name
        aliases.setdefault((each["provider"], name), []).append(other)
    models = [each for each in data["models"] if not PACKED.search(each["name"]) and each["name"] not in UNSPECIFIC]
    head = {"notice": NOTICE, "licence": "MPL-2.0", "source": "EcoLogits 0.11.3", "unit": "billions of parameters"}
    write("ecologits-models.json", head, sorted((row_of(model, aliases) for model in models), key=lambda row: row["names"]))


main()

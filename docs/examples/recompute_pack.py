#!/usr/bin/env python3
"""Recomputes an evidence pack from itself alone: python3 recompute_pack.py pack.jsonld

Needs nothing but Python 3 and recompute.py beside it. Makes again the digest of each part, the sums, the coverage, and each
number of each receipt whose lineage is in the pack, and follows each receipt's way to the root of the log. The signatures are left
to a library: `signature.jws` is detached (RFC 7797) over `manifest` as JSON by RFC 8785, that of `log.checkpoint` over the rest of
the checkpoint. Exit code 1 if anything differs.
"""
import contextlib
import hashlib
import io
import json
import re
import sys
from decimal import Decimal

import recompute

AMOUNT = re.compile(r"_(wh|g|ml|minutes|g_per_kwh|per_request)$|^pue$")
APART = ["date", "model", "provider", "region", "grid_basis", "simulated"]
COUNTS = ["prompt_tokens", "completion_tokens"]
KINDS = {"telemetry": "measured", "parametric": "modelled", "proxy": "estimated", "degraded": "degraded"}


def sha256(value):
    return hashlib.sha256(recompute.canonical(value).encode()).hexdigest()


def receipt_of(node):
    """The receipt that a node states, its amounts as numbers."""
    receipt = {name: value for name, value in node.items() if name not in ("id", "type", "lineage", "log")}
    amounts = {name: float(value) for name, value in receipt.items() if AMOUNT.search(name) and isinstance(value, str)}
    return {**receipt, **amounts, "id": node["receipt_id"]}


def plain(total):
    """Without an exponent, and without zeros at the end."""
    text = f"{total:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def sums(nodes, amounts):
    found, missing = {}, {}
    for name in COUNTS + amounts:
        known = [Decimal(str(node[name])) for node in nodes if node.get(name) is not None]
        if len(known) < len(nodes):
            missing[name] = len(nodes) - len(known)
        found[name] = plain(sum(known)) if known else None
    degraded = sum(node["tier"] == "degraded" for node in nodes)
    return {"requests": len(nodes), "requests_degraded": degraded, **found, "missing": missing}


def newest(nodes):
    last = {}
    for node in nodes:
        if node["version"] > last.get(node["receipt_id"], {"version": 0})["version"]:
            last[node["receipt_id"]] = node
    return [node for node in nodes if last[node["receipt_id"]] is node]


def check_manifest(pack, checks):
    head = {name: value for name, value in pack.items() if name not in ("receipts", "manifest", "signature")}
    parts = [("head", head)] + [(node["id"], node) for node in pack["receipts"]]
    follows = [{"part": part, "sha256": sha256(value)} for part, value in parts]
    checks.compare("number of parts", len(pack["manifest"]["parts"]), len(follows))
    for stated, each in zip(pack["manifest"]["parts"], follows):
        checks.compare(f"digest of {each['part']}", stated, each)


def check_sums(pack, checks):
    nodes, rows = newest(pack["receipts"]), pack["aggregates"]
    groups = {}
    for node in nodes:
        keys = {**{name: node.get(name) for name in APART}, "date": node["created_at"][:10]}
        keys["simulated"] = node.get("simulated", False)
        groups.setdefault(json.dumps([keys[name] for name in APART]), (keys, []))[1].append(node)
    checks.compare("number of sums", len(rows), len(groups))
    for row in rows:
        keys, members = groups.get(json.dumps([row[name] for name in APART]), ({}, []))
        amounts = [name for name in row if AMOUNT.search(name)]
        follows = {"type": ["gw:Aggregate"], **keys, **sums(members, amounts)}
        checks.compare(f"sums of {row['date']}, {row['model']}", row, follows)
    for tier, kind in KINDS.items():
        of = [node for node in nodes if node["tier"] == tier and not node.get("simulated")]
        follows = {name: sums(of, ["energy_wh"])[name] for name in ("requests", "energy_wh")}
        checks.compare(f"coverage, {kind}", pack["coverage"][kind], follows)


def root_of(leaf, index, size, path):
    """The root that a way leads to (RFC 6962, 2.1.1); None if it is not as long as it has to be."""
    begin, end, turns = 0, size, []
    while end - begin > 1:
        half = 1
        while half * 2 < end - begin:
            half *= 2
        turns.append(index < begin + half)
        begin, end = (begin, begin + half) if turns[-1] else (begin + half, end)
    for is_left, sibling in zip(reversed(turns), path):
        pair = leaf + sibling if is_left else sibling + leaf
        leaf = hashlib.sha256(b"\x01" + bytes.fromhex(pair)).hexdigest()
    return leaf if len(turns) == len(path) else None


def check_log(pack, checks):
    """How many receipts are in the log of the checkpoint."""
    logged = [node for node in pack["receipts"] if "log" in node]
    for node in logged:
        beside = ("receipt_id", "wasRevisionOf", "wasGeneratedBy")
        receipt = {name: value for name, value in receipt_of(node).items() if name not in beside}
        entry = recompute.canonical({**receipt, "object": "gw.receipt"}).encode()
        checkpoint, log = pack["log"]["checkpoint"], node["log"]
        leaf = hashlib.sha256(b"\x00" + entry).hexdigest()
        found = root_of(leaf, log["index"], checkpoint["tree_size"], log["path"])
        checks.compare(f"{node['id']}: root of the log", checkpoint["root_hash"], found)
    return len(logged)


def check_numbers(pack, checks):
    """How many receipts were recomputed."""
    done = 0
    for node in pack["receipts"]:
        lineage = (node.get("lineage") or {}).get("lineage")
        if lineage is None:
            continue
        said, faults = io.StringIO(), checks.faults
        with contextlib.redirect_stdout(said):  # what holds is said of a single receipt, not of a thousand
            receipt = receipt_of(node)
            recompute.check_call(lineage, receipt, checks)
            recompute.check_receipt(receipt, recompute.check_steps(lineage, checks), checks)
        if checks.faults > faults:
            print(f"{node['id']}:\n" + "\n".join(line for line in said.getvalue().splitlines() if " follows" in line))
        done += 1
    return done


def main(file):
    with open(file) as opened:
        pack = json.load(opened)
    checks = recompute.Checks()
    check_manifest(pack, checks)
    check_sums(pack, checks)
    logged = check_log(pack, checks)
    done = check_numbers(pack, checks)
    print(f"{len(pack['receipts'])} receipts, {done} recomputed, {logged} in the log, {checks.faults} faults")
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""Recomputes an evidence pack from itself alone: python3 recompute_pack.py pack.jsonld

Needs nothing but Python 3, and recompute.py (with its own two files) and recompute_hours.py beside it. Makes again the digest of each part, the sums,
the coverage, and each number of each receipt whose lineage is in the pack, by the methodology documents of the pack, follows
the way of each receipt and of each archived month to the root of the log, and looks for the entries that the log has of the period (recompute_hours.py). The signatures are left to a library: `signature.jws` is detached (RFC 7797) over
`manifest` as JSON by RFC 8785, `log.checkpoint.note` is a signed note (c2sp.org/signed-note). Exit code 1 if anything differs.

It reads the pack item by item, so of a receipt it keeps no more than its place in the log and its time; and twice, because the
methodology documents stand behind the receipts.
"""
import contextlib
import hashlib
import io
import json
import re
import sys
from decimal import Decimal

import recompute
import recompute_hours

AMOUNT = re.compile(r"_(wh|g|ml|minutes|g_per_kwh|per_request)$|^pue$")
APART = ["date", "model", "provider", "region", "grid_basis", "simulated"]
COUNTS = ["prompt_tokens", "completion_tokens"]
ORDER = ["created_at", "receipt_id", "version"]
KINDS = {"telemetry": "measured", "parametric": "modelled", "proxy": "estimated", "degraded": "degraded"}
LISTS = ["simulated", "degraded", "restated", "superseded"]
HASH = re.compile("[0-9a-f]{64}")
ARCHIVED = {
    "account": re.compile(".*", re.DOTALL),
    "at": re.compile(".*", re.DOTALL),
    "files_sha256": HASH,
    "format": re.compile("gw[.]archived_month/1"),
    "month": re.compile("[0-9]{4}-(0[1-9]|1[0-2])"),
    "note_sha256": HASH,
}
MOST_MONTHS = 1200
PART = 1000
PIECE = 1 << 20


def once(pairs):
    """Of a member that is there twice, other programs might read the other one."""
    members = {}
    for name, value in pairs:
        if name in members:
            raise SystemExit(f"A member is there twice: {name}")
        members[name] = value
    return members


DECODER = json.JSONDecoder(object_pairs_hook=once)


class Reader:
    """Members of a pack and items of its lists, one after the other."""

    def __init__(self, opened):
        self.opened, self.text, self.at, self.ended = opened, "", 0, False

    def more(self):
        piece = self.opened.read(PIECE)
        self.ended = piece == ""
        self.text, self.at = self.text[self.at :] + piece, 0

    def peek(self):
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                raise ValueError("the JSON ends in the midst")
            self.more()

    def take(self, expected):
        if self.peek() not in expected:
            raise ValueError(f"one of {expected} is expected, and there is {self.peek()}")
        self.at += 1
        return self.text[self.at - 1]

    def value(self):
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.at)
                # A number at the end of what was read may go on.
                if end < len(self.text) or self.ended:
                    self.at = end
                    return value
            except json.JSONDecodeError:
                if self.ended:
                    raise
            self.more()

    def items(self):
        self.take("[")
        while self.peek() != "]":
            yield self.value()
            if self.peek() != "]":
                self.take(",")
        self.take("]")

    def members(self):
        """Names; whoever gets one reads its value before the next one."""
        self.take("{")
        seen = set()
        while self.peek() != "}":
            name = self.value()
            if name in seen:
                raise SystemExit(f"A member is there twice: {name}")
            seen.add(name)
            self.take(":")
            yield name
            if self.peek() != "}":
                self.take(",")
        self.take("}")


class ListDigest:
    def __init__(self):
        self.digest, self.length = hashlib.sha256(b"["), 0

    def add(self, value):
        self.digest.update((b"," if self.length else b"") + recompute.canonical(value).encode())
        self.length += 1

    def hex(self):
        whole = self.digest.copy()
        whole.update(b"]")
        return whole.hexdigest()


def sha256(value):
    return hashlib.sha256(recompute.canonical(value).encode()).hexdigest()


def receipt_of(node):
    """The receipt that a node states, its amounts as numbers."""
    receipt = {name: value for name, value in node.items() if name not in ("id", "type", "lineage", "routing", "log")}
    amounts = {name: float(value) for name, value in receipt.items() if AMOUNT.search(name) and isinstance(value, str)}
    of_pack = ("receipt_id", "wasRevisionOf", "wasGeneratedBy")
    stated = {name: value for name, value in {**receipt, **amounts}.items() if name not in of_pack}
    return {**stated, "id": node["receipt_id"], "object": "gw.receipt"}


def plain(total):
    """Without an exponent, and without zeros at the end."""
    text = f"{total:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class Sums:
    """Sums of receipts, of which nothing is kept."""

    def __init__(self):
        self.requests, self.degraded, self.known, self.totals = 0, 0, {}, {}

    def add(self, node):
        self.requests += 1
        self.degraded += node["tier"] == "degraded"
        saved = {"carbon_saved_g": (node["routing"] or {}).get("estimated_saving_g")} if "routing" in node else {}
        for name, value in {**node, **saved}.items():
            if (name in COUNTS or AMOUNT.search(name)) and value is not None:
                self.known[name] = self.known.get(name, 0) + 1
                self.totals[name] = self.totals.get(name, Decimal(0)) + Decimal(str(value))

    def of(self, amounts):
        names = COUNTS + amounts
        found = {name: plain(self.totals[name]) if name in self.totals else None for name in names}
        missing = {name: self.requests - self.known.get(name, 0) for name in names}
        missing = {name: count for name, count in missing.items() if count}
        return {"requests": self.requests, "requests_degraded": self.degraded, **found, "missing": missing}


class Receipts:
    """What follows from the receipts of a pack. The versions of a receipt come one after the other."""

    def __init__(self, checks, documents):
        self.checks, self.groups, self.kinds = checks, {}, {tier: Sums() for tier in KINDS}
        self.documents, self.unheld = documents, 0
        self.lists = {name: ListDigest() for name in LISTS}
        self.singles, self.parts, self.part = [], [], ListDigest()
        self.months, self.indexes = {}, {}
        self.last, self.versions, self.receipts, self.logged, self.recomputed = None, 0, 0, 0, 0

    def add(self, node, checkpoint):
        if self.last is not None:
            if self.last["receipt_id"] == node["receipt_id"]:
                self.lists["superseded"].add(self.last["id"])
            else:
                self.count(self.last)
            place, before = ([each[name] for name in ORDER] for each in (node, self.last))
            self.checks.compare(f"{node['id']}: behind {self.last['id']}", place > before, True)
        self.last = node
        self.versions += 1
        month = node["created_at"][:7]
        self.months[month] = self.months.get(month, 0) + 1
        if self.versions <= PART:
            self.singles.append({"part": node["id"], "sha256": sha256(node)})
        self.part.add(node)
        if self.part.length == PART:
            self.close_part()
        self.check_amounts(node)
        self.logged += self.check_log(node, checkpoint)
        own = node.get("log") or {}
        for index in [own.get("index"), *(each["index"] for each in own.get("replaced", []))]:
            if type(index) is int:
                self.indexes[index] = node["created_at"]
        self.recomputed += self.check_numbers(node)

    def close_part(self):
        self.parts.append({"part": f"receipts/{len(self.parts)}", "sha256": self.part.hex()})
        self.part = ListDigest()

    def count(self, node):
        self.receipts += 1
        keys = {**{name: node.get(name) for name in APART}, "date": node["created_at"][:10]}
        keys["simulated"] = node.get("simulated", False)
        self.groups.setdefault(json.dumps([keys[name] for name in APART]), (keys, Sums()))[1].add(node)
        if node.get("simulated"):
            self.lists["simulated"].add(node["receipt_id"])
        else:
            self.kinds[node["tier"]].add(node)
        if node["tier"] == "degraded":
            self.lists["degraded"].add(node["receipt_id"])
        if node["version"] > 1:
            self.lists["restated"].add(node["receipt_id"])

    def finish(self):
        if self.last is not None:
            self.count(self.last)
        if self.part.length:
            self.close_part()

    def check_log(self, node, checkpoint):
        """Whether a receipt is in the log of the checkpoint. If not, it is listed: whether it should be, the hour of its call tells."""
        log, name = node.get("log"), node["id"]
        if log is not None:
            self.checks.compare(f"{name}: a checkpoint for its place in the log", checkpoint is not None, True)
        if log is None or checkpoint is None:
            print(f"{name}: not in the log")
            return 0
        for entry in log.get("replaced", []):  # what it was before it was settled
            leaf = entry["leaf_hash"] if entry["receipt"] is None else leaf_of(entry["receipt"])
            found = in_log(leaf, entry, checkpoint)
            self.checks.compare(f"{name}: root of the log, before", checkpoint["root_hash"], found)
            self.checks.compare(f"{name}: what it was is known", entry["receipt"] is not None, True)
        if log["index"] is None:
            print(f"{name}: in the log as it was before it was settled")
            return 0
        found = in_log(leaf_of(receipt_of(node)), log, checkpoint)
        self.checks.compare(f"{name}: root of the log", checkpoint["root_hash"], found)
        return int(found == checkpoint["root_hash"])

    def check_amounts(self, node):
        """Each amount is written in the one way there is, so that none is left out of the sums."""
        for name, value in node.items():
            if not AMOUNT.search(name) or value is None:
                continue
            is_text = isinstance(value, str) and len(value) < 400 and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value)
            follows = plain(Decimal(repr(float(value)))) if is_text else "a decimal as text"
            self.checks.compare(f"{node['id']}: {name} as text", value, follows)

    def check_numbers(self, node):
        lineage = (node.get("lineage") or {}).get("lineage")
        if lineage is None:
            return 0
        said, faults = io.StringIO(), self.checks.faults
        with contextlib.redirect_stdout(said):  # what holds is said of a single receipt, not of a thousand
            receipt = receipt_of(node)
            document = self.documents.get(receipt.get("methodology_hash"))
            recompute.check(lineage, receipt, document, self.checks)
        self.unheld += document is None
        if self.checks.faults > faults:
            print(f"{node['id']}:\n" + "\n".join(line for line in said.getvalue().splitlines() if " follows" in line))
        return 1


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


def leaf_of(receipt):
    return hashlib.sha256(b"\x00" + recompute.canonical(receipt).encode()).hexdigest()


def in_log(leaf, place, checkpoint):
    """The root that the way of an entry leads to; None if there is no such entry."""
    index, size, path = place.get("index"), checkpoint["tree_size"], place.get("path")
    if type(index) is not int or type(size) is not int or not 0 <= index < size or type(path) is not list:
        return None
    is_way = all(isinstance(each, str) and HASH.fullmatch(each) for each in path)
    return root_of(leaf, index, size, path) if is_way else None


def documents_of(reader):
    """The methodology documents of a pack, by their hashes. All else is passed over."""
    documents = {}
    for name in reader.members():
        if name == "methodologies":
            documents = {each["hash"]: each["document"].encode() for each in reader.items() if each["document"]}
        elif reader.peek() == "[":
            for _ in reader.items():
                pass
        elif name == "listed":
            for _ in reader.members():
                for _ in reader.items():
                    pass
        else:
            reader.value()
    return documents


def read(reader, documents, checks):
    """The head, what follows from the receipts, and the digests of the lists that are stated."""
    head, receipts = {}, Receipts(checks, documents)
    stated = {name: ListDigest() for name in LISTS}
    excluded = ListDigest()
    for name in reader.members():
        if name == "receipts":
            for node in reader.items():
                receipts.add(node, (head.get("log") or {}).get("checkpoint"))
        elif name == "listed":
            for kind in reader.members():
                for item in reader.items():
                    stated[kind].add(item)
        elif name == "excluded":
            for item in reader.items():
                excluded.add(item)
                if type(item.get("log_index")) is int:
                    receipts.indexes.setdefault(item["log_index"], None)
        else:
            head[name] = reader.value()
    receipts.finish()
    return head, receipts, stated, excluded


def is_archived_month(said):
    """Whether it has the members that an entry of an archived month has, each in its form, and no others."""
    if type(said) is not dict or said.keys() != {*ARCHIVED, "receipts"}:
        return False
    in_form = all(isinstance(said[name], str) and form.fullmatch(said[name]) for name, form in ARCHIVED.items())
    return in_form and type(said["receipts"]) is int and 0 <= said["receipts"] < 1 << 53


def check_archived(head, receipts, checks):
    """What is said of archived months is in the log, and a pack of all of such a month has as many receipts as left. Returns their places."""
    places = []
    log, temporal = head.get("log") or {}, head.get("temporal")
    filters = ("model", "region", "receipt_ids")
    has_all = temporal is not None and not any(name in head["selection"] for name in filters)
    archived, checkpoint, months = log.get("archived", []), log.get("checkpoint"), set()
    if not checks.compare("archived months: a list", type(archived) is list and len(archived) <= MOST_MONTHS, True):
        return places
    for at, entry in enumerate(archived):
        month = entry.get("month") if type(entry) is dict else None
        if not checks.compare(f"archived month, entry {at}: form", is_archived_month(month), True):
            continue
        name = f"archived month {month['month']}"
        checks.compare(f"{name}: listed once", month["month"] not in months, True)
        months.add(month["month"])
        checks.compare(f"{name}: account", month["account"], head["account"])
        if not checks.compare(f"{name}: a checkpoint for its place in the log", checkpoint is not None, True):
            continue
        if checks.compare(f"{name}: root of the log", checkpoint["root_hash"], in_log(leaf_of(month), entry, checkpoint)):
            places.append(entry["index"])
        year, number = map(int, month["month"].split("-"))
        begin, end = f"{year:04}-{number:02}-01", f"{year + number // 12:04}-{number % 12 + 1:02}-01"
        # Times in one form stand in the order of their texts.
        if has_all and temporal["start"] <= f"{begin}T00:00:00.000Z" and temporal["end"] >= f"{end}T00:00:00.000Z":
            checks.compare(f"{name}: versions of receipts", month["receipts"], receipts.months.get(month["month"], 0))
    return places


def check_manifest(head, receipts, excluded, checks):
    manifest = head["manifest"]
    rest = {name: value for name, value in head.items() if name not in ("manifest", "signature")}
    # A part is one receipt, or a thousand in a pack of more than a thousand.
    parts = receipts.singles if receipts.versions <= PART else receipts.parts
    follows = [{"part": "head", "sha256": sha256(rest)}, *parts]
    follows += [{"part": f"listed/{name}", "sha256": receipts.lists[name].hex()} for name in LISTS]
    follows += [{"part": "excluded", "sha256": excluded.hex()}]
    checks.compare("number of parts", len(manifest["parts"]), len(follows))
    for stated, each in zip(manifest["parts"], follows):
        checks.compare(f"digest of {each['part']}", stated, each)


def check_sums(head, receipts, checks):
    rows, coverage = head["aggregates"], head["coverage"]
    checks.compare("number of sums", len(rows), len(receipts.groups))
    for row in rows:
        keys, members = receipts.groups.get(json.dumps([row[name] for name in APART]), ({}, Sums()))
        amounts = [name for name in row if AMOUNT.search(name)]
        follows = {"type": ["gw:Aggregate"], **keys, **members.of(amounts)}
        checks.compare(f"sums of {row['date']}, {row['model']}", row, follows)
    for tier, kind in KINDS.items():
        follows = {name: receipts.kinds[tier].of(["energy_wh"])[name] for name in ("requests", "energy_wh")}
        checks.compare(f"coverage, {kind}", coverage[kind], follows)
    counts = {"receipts": receipts.receipts, "versions": receipts.versions}
    checks.compare("coverage, receipts", {name: coverage[name] for name in counts}, counts)


def check_lists(head, receipts, stated, checks):
    for name in LISTS:
        checks.compare(f"the list {name}", stated[name].hex(), receipts.lists[name].hex())
        checks.compare(f"coverage, {name}", head["coverage"]["listed"][name], receipts.lists[name].length)


def main(file):
    checks = recompute.Checks()
    with open(file) as opened:
        documents = documents_of(Reader(opened))
    with open(file) as opened:
        head, receipts, stated, excluded = read(Reader(opened), documents, checks)
    check_manifest(head, receipts, excluded, checks)
    archived = check_archived(head, receipts, checks)
    recompute_hours.check(head, receipts.indexes, archived, checks)
    check_sums(head, receipts, checks)
    check_lists(head, receipts, stated, checks)
    counted = f"{receipts.versions} receipts, {receipts.recomputed} recomputed, {receipts.logged} in the log"
    if receipts.unheld:
        print(f"{receipts.unheld} receipts have no methodology document in the pack: their factors and formulas were not checked")
    print(f"{counted}, {checks.faults} faults")
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

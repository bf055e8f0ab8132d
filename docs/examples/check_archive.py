#!/usr/bin/env python3
"""Checks an archived month of receipts from its files alone: python3 check_archive.py receipts/2025-01 [receipt id]

Needs nothing but Python 3 and recompute_formulas.py beside it (with its own file). Makes again the digest of each file and of each row,
and finds each row among the entries, whose digests the batches of the ledger hold. With an id it prints the versions of that receipt:
`follow_receipt.py` follows one to what the gateway has signed. The signature is left to a library: `signature.jws` of note.json is
detached (RFC 7797) over the rest of the note as JSON by RFC 8785. Exit code 1 if anything differs.
"""
import gzip
import hashlib
import json
import sys
from pathlib import Path

from recompute_formulas import canonical


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def digest_of(row):
    """Over the hash of the receipt and the digest of the rest, as in the ledger."""
    rest = {name: row[name] for name in ("account_id", "key_id", "endpoint")}
    rest.update({name: row[name] and json.loads(row[name]) for name in ("routing_trace", "facts")})
    own = sha256(b"\0" + canonical(json.loads(row["body"])).encode())
    return sha256(f"{own}\n{sha256(canonical(rest).encode())}".encode())


def expect(is_right, what):
    if not is_right:
        raise SystemExit(f"{what} is not what was archived.")


def main(folder, wanted=None):
    folder = Path(folder)
    note = json.loads((folder / "note.json").read_text())
    listed = (folder / "files.txt").read_bytes()
    expect(sha256(listed) == note["files_sha256"], "files.txt")
    expect(sha256((folder / "checkpoints.jsonl").read_bytes()) == note["checkpoints_sha256"], "checkpoints.jsonl")
    entries, receipts, settled, files = set(), 0, 0, {"entries": 0, "rows": 0}
    # The entries come first.
    for line in listed.decode().splitlines():
        kind, number, sha, _, count = line.split(" ")[:5]
        name = f"{kind}-{int(number):07}.jsonl.gz"
        data = (folder / name).read_bytes()
        lines = gzip.decompress(data).decode().splitlines()
        expect(sha256(data) == sha and len(lines) == int(count), name)
        files[kind] += 1
        if kind == "entries":
            entries.update(line.split(" ", 1)[1] for line in lines)
            continue
        for row in map(json.loads, lines):
            expect(digest_of(row) == row["content_sha256"], row["id"])
            receipts += 1
            # One that was settled later was another row when it came.
            settled += f"{row['id']} {row['version']} {row['content_sha256']}" not in entries
            if row["id"] == wanted:
                print(row["body"])
    expect(files == note["files"] and receipts == note["receipts"], "note.json")
    expect(receipts - settled == len(entries), "The list of entries")
    print(f"{note['month']}: {receipts} versions of receipts, {settled} of them settled, in {sum(files.values())} files", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Checks an archived month of receipts from its files alone: python3 check_archive.py receipts/2025-01 [receipt id]

Needs nothing but Python 3 and recompute_formulas.py beside it (with its own file). Makes again the digest of each file and of each row,
and finds each row among the entries, whose digests the batches of the ledger hold. It prints the digest of the note: the entry of the
month in the log of an account has it as `note_sha256`, and so has `log.archived` of its packs. With an id it prints the versions of that receipt:
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
    """Over the hash of the receipt, and over whose row it is and its texts byte by byte, as in the ledger."""
    texts = [row[name] for name in ("body", "routing_trace", "facts")]
    # In units of UTF-16, as JavaScript counts.
    lengths = [None if text is None else len(text.encode("utf-16-le")) // 2 for text in texts]
    head = [row["account_id"], row["key_id"], row["endpoint"], *lengths]
    stated = json.dumps(head, separators=(",", ":"), ensure_ascii=False)
    rest = sha256("\n".join([stated, *(text or "" for text in texts)]).encode())
    own = sha256(b"\0" + canonical(json.loads(row["body"])).encode())
    return sha256(f"{own}\n{rest}".encode())


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
    stated = {name: value for name, value in note.items() if name != "signature"}
    counted = f"{receipts} versions of receipts, {settled} of them settled, in {sum(files.values())} files"
    print(f"{note['month']}: {counted}, note {sha256(canonical(stated).encode())}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])

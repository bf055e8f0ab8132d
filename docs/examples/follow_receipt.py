#!/usr/bin/env python3
"""Follows a kept receipt to what the gateway has signed: python3 follow_receipt.py reply.json proof.json

`reply.json`: the reply of a call, or its `gw`; `proof.json`: the reply of GET /v1/gw/receipts/{id}/proof. Needs nothing but Python 3
and recompute_formulas.py beside it (with its own file). The signatures are left to a library: `signature.jws` of `batch.signed.head`
is detached (RFC 7797) over the rest of the head as JSON by RFC 8785. Exit code 1 if anything differs.
"""
import hashlib
import json
import sys
from datetime import datetime, timezone

from recompute_formulas import canonical


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def leaf(text):
    return hashlib.sha256(b"\0" + text.encode()).digest()


def root(found, index, size, path):
    """RFC 9162, 2.1.3.2."""
    last = size - 1
    for each in map(bytes.fromhex, path):
        if index % 2 or index == last:
            found = hashlib.sha256(b"\1" + each + found).digest()
            while index % 2 == 0 and index:
                index, last = index >> 1, last >> 1
        else:
            found = hashlib.sha256(b"\1" + found + each).digest()
        index, last = index >> 1, last >> 1
    return found.hex() if last == 0 else None


def milliseconds(time):
    at = datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return round(at.timestamp() * 1000)


def head_of(receipt, batch):
    row = sha256(leaf(canonical(receipt)).hex() + "\n" + batch["rest_sha256"])
    entry = [receipt["id"], str(receipt["version"]), row] + [batch["replaces"]] * (batch["replaces"] is not None)
    above = root(leaf(" ".join(entry)), batch["index"], batch["count"], batch["path"])
    told = ["gw.batch", batch["number"], batch["kind"], milliseconds(batch["at"]), batch["count"], batch["total"], above]
    return sha256("\n".join(map(str, [*told, batch["previous"]])))


def main(reply_file, proof_file):
    with open(reply_file, encoding="utf-8") as kept, open(proof_file, encoding="utf-8") as given:
        receipt, proof = json.load(kept), json.load(given)
    receipt = receipt.get("gw", receipt)
    receipt.pop("salt", None)  # It is the reply's alone: answer_digest.py needs it.
    own, batch, checkpoint = leaf(canonical(receipt)), proof["batch"], proof["checkpoint"]
    if own.hex() != proof["leaf_hash"]:
        raise SystemExit("The proof is of another receipt.")
    signed = batch and batch["signed"]
    if signed:
        head = signed["head"]
        place = batch["number"] - head["first"], head["last"] - head["first"] + 1, signed["path"]
        if root(leaf(head_of(receipt, batch)), *place) != head["root_hash"]:
            raise SystemExit("The receipt does not lead to the signed head.")
        print(f"in the chain since {batch['at']}, batch {batch['number']}")
    if proof["index"] is not None:
        if root(own, proof["index"], checkpoint["tree_size"], proof["path"]) != checkpoint["root_hash"]:
            raise SystemExit("The receipt is not that entry of the log.")
        print(f"in the log at index {proof['index']}")
    if not signed and proof["index"] is None:
        raise SystemExit("It is not signed yet.")


if __name__ == "__main__":
    main(*sys.argv[1:])

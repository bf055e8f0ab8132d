#!/usr/bin/env python3
"""Checks the checkpoint of a pack, or of a proof: python3 check_note.py pack.jsonld jwks.json [key of a witness …]

`pack.jsonld`: a pack, or the reply of GET /v1/gw/receipts/{id}/proof; `jwks.json`: the key set of the gateway. Needs nothing but Python 3.
The note of the checkpoint (c2sp.org/tlog-checkpoint) has to say what its members say, to be signed by a key of the set, and to be
cosigned by each witness (c2sp.org/tlog-cosignature) whose key, name+id+key, is given. Exit code 1 if it does not hold.
"""
import base64
import hashlib
import json
import sys
from datetime import datetime, timezone
from urllib.parse import quote

LINES = ["complete_until", "hours_root", "issued"]

# Ed25519 by RFC 8032, 5.1, with points as (x, y).
P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(one, other):
    (a, b), (c, d) = one, other
    k = D * a * b * c * d
    return (a * d + b * c) * pow(1 + k, -1, P) % P, (b * d + a * c) * pow(1 - k, -1, P) % P


def times(number, point):
    found = (0, 1)
    while number:
        if number & 1:
            found = add(found, point)
        number, point = number >> 1, add(point, point)
    return found


def point_in(encoded):
    """None: these 32 bytes are no point."""
    whole = int.from_bytes(encoded, "little")
    y, sign = whole & (1 << 255) - 1, whole >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    return (P - x if x & 1 != sign else x), y


BASE = point_in((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def verifies(key, signature, message):
    public, nonce = point_in(key), point_in(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or public is None or nonce is None or scalar >= Q:
        return False
    digest = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    return times(scalar, BASE) == add(nonce, times(digest, public))


def key_id(name, kind, key):
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + key).digest()[:4]


def text_of(checkpoint):
    """What the members say, in the form in which it was signed."""
    if not checkpoint["origin"].endswith("/receipts/" + quote(checkpoint["account"], safe="!'()*")):
        raise SystemExit("The origin is not that of a log of the account.")
    root = base64.b64encode(bytes.fromhex(checkpoint["root_hash"])).decode()
    named = [f"{name} {checkpoint[name]}" for name in LINES]
    return "\n".join([checkpoint["origin"], str(checkpoint["tree_size"]), root, *named, ""])


def lines_by(note, text, name, identifier):
    """The payloads of the lines of a key, without the id."""
    if not note.startswith(text + "\n") or not note.endswith("\n"):
        raise SystemExit("The note does not say what the checkpoint says.")
    found = []
    for line in note[len(text) + 1 : -1].split("\n"):
        dash, signer, encoded = line.split(" ")
        payload = base64.b64decode(encoded, validate=True)
        if dash != "\u2014":
            raise SystemExit("A line of the note is no signature.")
        if (signer, payload[:4]) == (name, identifier):
            found.append(payload[4:])
    return found


def check_log(checkpoint, text, keys):
    name, note = checkpoint["origin"], checkpoint["note"]
    raw = [base64.urlsafe_b64decode(key["x"] + "=") for key in keys if key.get("crv") == "Ed25519"]
    signed = [(key, line) for key in raw for line in lines_by(note, text, name, key_id(name, 1, key))]
    if not signed or not all(verifies(key, line, text.encode()) for key, line in signed):
        raise SystemExit("The checkpoint is not signed by a key of the set.")
    print(f"{name}: {checkpoint['tree_size']} entries, signed")


def check_witness(checkpoint, text, vkey):
    name, identifier, encoded = vkey.split("+", 2)
    kind, key = base64.b64decode(encoded)[0], base64.b64decode(encoded)[1:]
    if key_id(name, kind, key).hex() != identifier or kind not in (1, 4) or len(key) != 32:
        raise SystemExit(f"{vkey} is not the key of a witness.")
    lines = lines_by(checkpoint["note"], text, name, key_id(name, 4, key))
    if not lines:
        raise SystemExit(f"{name} has not cosigned.")
    for line in lines:
        time = int.from_bytes(line[:8], "big")
        if not verifies(key, line[8:], f"cosignature/v1\ntime {time}\n{text}".encode()):
            raise SystemExit(f"The cosignature of {name} does not fit.")
        print(f"cosigned by {name} at {datetime.fromtimestamp(time, timezone.utc).isoformat()}")


def main(file, key_file, *witnesses):
    with open(file, encoding="utf-8") as opened, open(key_file, encoding="utf-8") as given:
        document, keys = json.load(opened), json.load(given)["keys"]
    checkpoint = (document.get("log") or document)["checkpoint"]
    if checkpoint is None:
        raise SystemExit("There is no checkpoint yet.")
    text = text_of(checkpoint)
    check_log(checkpoint, text, keys)
    for vkey in witnesses:
        check_witness(checkpoint, text, vkey)


if __name__ == "__main__":
    main(*sys.argv[1:])

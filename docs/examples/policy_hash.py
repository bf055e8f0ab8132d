#!/usr/bin/env python3
"""The hash by which the audit log knows a screened request: python3 policy_hash.py request.json <text_salt>

request.json is the body as it was sent. Prints SHA-256, in hex, over the bytes of the salt and the RFC 8785 form of the
body without `gw`, with the other members of `extra_body` at the top; it is the `text_sha256` of the entry if this was the
request. Needs only Python 3.
"""
import hashlib
import json
import re
import sys
from decimal import Decimal


def number(value):
    """As ECMAScript writes it, which RFC 8785 asks for."""
    value = float(value)
    if value == 0:
        return "0"
    if abs(value) == float("inf"):
        return "null"
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    digits, _, exponent = repr(value).partition("e")
    return f"{digits.removesuffix('.0')}e{int(exponent):+d}"


def canonical(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    if isinstance(value, str):
        value = re.sub("[\0\ud800-\udfff]", "\ufffd", value)
    return json.dumps(value, ensure_ascii=False)


with open(sys.argv[1], encoding="utf-8-sig") as file:
    body = json.load(file)
fields = {**body, **(body.get("extra_body") or {})}
screened = {name: value for name, value in fields.items() if name not in ("gw", "extra_body")}
print(hashlib.sha256(bytes.fromhex(sys.argv[2]) + canonical(screened).encode()).hexdigest())

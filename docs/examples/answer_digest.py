#!/usr/bin/env python3
"""Whether a receipt is of an answer: python3 answer_digest.py reply [receipt.json [request]]

`reply`: a saved reply: its JSON, as it came or as an SDK has written it again, the text of a stream, or its chunks as a list or as lines
of JSON. `receipt.json`: a receipt or a reply with one; by default that in `reply`. `request`: the body of the request as it was sent.
Needs nothing but Python 3 and recompute_formulas.py beside it (with its own file). Exit code 1 if it is of another answer or request.
"""
import base64
import hashlib
import json
import re
import struct
import sys

from recompute_formulas import canonical

CALLED = {"name": True, "arguments": True, "input": True}
MESSAGE = {
    "content": {"text": True, "thinking": {"text": True}, "image_url": {"url": True}}, "refusal": True,
    "reasoning_content": {"text": True}, "reasoning": {"text": True},
    "reasoning_details": {"text": True, "summary": True, "data": True}, "images": {"image_url": {"url": True}},
    "tool_calls": {"function": CALLED, "custom": CALLED}, "function_call": CALLED,
    "audio": {"data": True, "transcript": True},
}
BLOCK = {
    "text": True, "thinking": True, "name": True, "input": True, "data": True, "content": True, "tools": True,
    "server_name": True,
}
DELTA = {"text": True, "thinking": True, "content": True}
LONGEST_JSON = 2 ** 20
PART = {"text": True, "refusal": True}
BEGUN_ITEM = {**CALLED, "content": PART, "summary": {"text": True}, "code": True, "result": True}
ITEM = {
    **BEGUN_ITEM, "action": True, "actions": True, "operation": True, "outputs": True, "output": True,
    "queries": True, "results": True, "tools": True, "error": True, "server_label": True,
}
PIECES = {
    "output_text": ("content", "text"), "refusal": ("content", "refusal"), "reasoning_text": ("content", "text"),
    "reasoning_summary_text": ("summary", "text"), "function_call_arguments": ("", "arguments"),
    "mcp_call_arguments": ("", "arguments"), "custom_tool_call_input": ("", "input"),
    "code_interpreter_call_code": ("", "code"),
}
PARTS = {"content_part": "content", "reasoning_summary_part": "summary"}


def sha256(said):
    return hashlib.sha256(said if isinstance(said, bytes) else said.encode()).hexdigest()


def plain(value):
    """Whole numbers as a double has them, as in RFC 8785, and no members that are null."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def utf8(text):
    """A pair of surrogates may have come in two pieces."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def no_json(constant):
    raise ValueError(constant)


def place_in(said, name, otherwise=0):
    index = said.get(name)
    return index if isinstance(index, int) else otherwise


def walk(value, members, place, take):
    if value in (None, ""):
        return
    if isinstance(value, str):
        take(place, value)
    elif members is True:
        said = plain(value)
        if said not in ({}, []):
            take(place, canonical(said))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            walk(each, members, f"{place}.{place_in(each, 'index', at) if isinstance(each, dict) else at}", take)
    elif isinstance(value, dict):
        for name, inner in members.items():
            walk(value.get(name), inner, f"{place}.{name}", take)


def each(elements, place):
    return [(element, f"{place}.{place_in(element, 'index', at)}") for at, element in enumerate(elements or [])]


def vector(embedding):
    if isinstance(embedding, str):
        try:
            return base64.b64decode(embedding, validate=True)
        except ValueError:
            return embedding
    return struct.pack(f"<{len(embedding)}f", *embedding)


class Texts:
    """The texts of an answer by their places."""

    def __init__(self):
        self.texts = {}
        self.json_at, self.json = None, []

    def add(self, place, text):
        self.texts.setdefault(place, []).append(text)

    def told(self, place):
        pieces = self.texts[place]
        return b"".join(pieces) if isinstance(pieces[0], bytes) else utf8("".join(pieces))

    def restate(self, by):
        def take(place, text):
            if place not in self.texts:
                self.add(place, text)
            elif self.told(place) != utf8(text):
                self.add(f"{place} {by}", text)
        return take

    def add_json(self, place, piece):
        if place != self.json_at:
            self.end_json()
        self.json_at = place
        self.json.append(piece)

    def end_json(self):
        """JSON in pieces counts as its value; as text if it is too long, or no JSON."""
        text, place = "".join(self.json), self.json_at
        self.json_at, self.json = None, []
        try:
            value = json.loads(text, parse_constant=no_json) if units(text) <= LONGEST_JSON else text
        except ValueError:
            value = text
        walk(value, True, place, self.add)

    def digest(self, salt):
        self.end_json()
        return "sha256:" + sha256(f"{salt}\n" + canonical({place: sha256(self.told(place)) for place in self.texts}))

    def take(self, api, said, name):
        if api in ("chat", "completions"):
            for choice, place in each(said.get("choices"), "choices"):
                if api == "completions":
                    walk(choice, {"text": True}, place, self.add)
                else:
                    delta = choice.get("delta")
                    walk(choice.get("message") if delta is None else delta, MESSAGE, place, self.add)
        elif api == "embeddings":
            for item, place in each(said.get("data"), "data"):
                self.add(f"{place}.embedding", vector(item["embedding"]))
        elif api == "messages":
            self.message(said)
        else:
            kind = said.get("type")
            self.response(said, (kind if isinstance(kind, str) else str(name or "null"))[:64])

    def message(self, said):
        if said.get("type") == "content_block_stop":
            self.end_json()
        elif "message" in said:
            walk(said["message"].get("content"), BLOCK, "content", self.add)
        elif said.get("type") in ("content_block_start", "content_block_delta"):
            place = f"content.{place_in(said, 'index')}"
            walk(said.get("content_block"), BLOCK, place, self.add)
            delta = said.get("delta") or {}
            walk(delta, DELTA, place, self.add)
            if isinstance(delta.get("partial_json"), str):
                self.add_json(f"{place}.input", delta["partial_json"])
        else:
            walk(said.get("content"), BLOCK, "content", self.add)

    def response(self, said, kind):
        item = f"output.{place_in(said, 'output_index')}"
        at = lambda part: f"{item}.{part}.{place_in(said, part + '_index')}" if part else item
        members = ITEM if re.search(r"\.(done|completed|incomplete|failed)\Z", kind) else BEGUN_ITEM
        found = re.fullmatch(r"response\.(\w+)\.(\w+)", kind)
        middle, end = found.groups() if found else ("", "")
        if "output" in said:
            walk(said["output"], ITEM, "output", self.add)
        elif "response" in said:
            walk(said["response"].get("output"), members, "output", self.restate(kind))
        elif "item" in said:
            walk(said["item"], members, item, self.restate(kind))
        elif middle in PARTS and "part" in said:
            walk(said["part"], PART, at(PARTS[middle]), self.restate(kind))
        elif middle in PIECES:
            part, member = PIECES[middle]
            if end == "delta":
                walk(said.get("delta"), True, f"{at(part)}.{member}", self.add)
            elif end == "done":
                walk(said.get(member), True, f"{at(part)}.{member}", self.restate(kind))


def once(members):
    if len(dict(members)) < len(members):
        raise SystemExit("A name stands twice in one object, so that not every parser reads the same.")
    return dict(members)


def parsed(text):
    return json.loads(text, object_pairs_hook=once)


def events(text):
    """The whole reply or the events of a stream, each with its name."""
    try:
        whole = parsed(text)
        return [(said, None) for said in (whole if isinstance(whole, list) else [whole])]
    except ValueError:
        pass
    lines = re.split(r"\r\n|\r|\n", text)
    if not any(line.startswith("data:") for line in lines):
        return [(parsed(line), None) for line in lines if line.strip()]
    found, data, name = [], [], None
    for line in lines + [""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].removeprefix(" ")
        elif line == "":
            if data and "\n".join(data).strip() != "[DONE]":
                found.append((parsed("\n".join(data)), name))
            data, name = [], None
    return found


def gw_in(reply):
    found = [said.get("gw") or (said.get("response") or {}).get("gw") for said, _ in reply]
    found = [gw for gw in found if gw]
    return found[-1] if found else {}


def answer_digest(api, reply, salt):
    texts = Texts()
    for said, name in reply:
        texts.take(api, said, name)
    return texts.digest(salt)


def read(file):
    with open(file, encoding="utf-8-sig", newline="") as kept:
        return events(kept.read())


def main(reply_file, receipt_file=None, request_file=None):
    reply = read(reply_file)
    kept = read(receipt_file) if receipt_file else reply
    receipt = gw_in(kept) or kept[-1][0]
    salt = receipt.get("salt") or gw_in(reply).get("salt")
    if not salt or not receipt.get("answer_digest"):
        raise SystemExit("Neither file has the salt, or the receipt is bound to no answer.")
    if answer_digest(receipt["api"], reply, salt) != receipt["answer_digest"]:
        raise SystemExit("This receipt is NOT of this answer.")
    print("this receipt is of this answer")
    if request_file:
        with open(request_file, "rb") as sent:
            if "sha256:" + sha256(f"{salt}\n".encode() + sent.read()) != receipt["request_digest"]:
                raise SystemExit("This receipt is NOT of this request.")
        print("this receipt is of this request")


if __name__ == "__main__":
    main(*sys.argv[1:])

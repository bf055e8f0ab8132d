#!/usr/bin/env python3
"""Recomputes a receipt from its lineage alone: python3 recompute.py lineage.json [receipt.json]

lineage.json is the reply of GET /v1/gw/lineage/{id}, receipt.json that of GET /v1/gw/receipts/{id}. Needs nothing but
Python 3. Says who vouches for what went in. Exit code 1 if the digest is not that of the call and its facts, an input is
not the fact that it names, a step's output does not follow from its formula, or the receipt not from the lineage.
"""
import hashlib
import json
import math
import re
import sys
from datetime import datetime
from decimal import Decimal, ROUND_HALF_UP


def rounded(parts):
    """The parts, each rounded to the last place of the 12 significant digits of their sum; and the sum of those."""
    parts = [Decimal(part) for part in parts]
    for digits in (12, 11):  # rounding up can lift the sum into a 13th digit; then one place fewer is kept
        total = sum(parts)
        place = Decimal(1).scaleb(total.adjusted() - digits + 1) if total else Decimal(1)
        kept = [part.quantize(place, ROUND_HALF_UP) for part in parts]
        if sum(kept) <= 10**12 * place:
            return kept, sum(kept)


FUNCTIONS = {
    "min": min, "max": max, "exp": math.exp, "log2": math.log2, "ceil": math.ceil,
    "combined": lambda *ratios: math.exp(math.sqrt(sum(math.log(ratio) * math.log(ratio) for ratio in ratios))),
    "round": lambda x: math.floor(x + 0.5),
    "sum12": lambda *parts: float(rounded(parts)[1]),
    "part12": lambda n, *parts: float(rounded(parts)[0][int(n) - 1]),
}
LEVELS = [["and"], ["=", "<", ">", "<="], ["+", "-"], ["*", "/"], ["^"]]
OPERATORS = {
    "and": lambda a, b: a and b, "=": lambda a, b: a == b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan, "^": lambda a, b: a**b,
}


def evaluate(formula, names):
    """The value of a formula; None where an operand is unknown."""
    tokens = re.findall(r"\d[\d.]*(?:e\d+)?|[A-Za-z_][\w@]*|<=|[-+*/^()?:,=<>]", formula)

    def take(token):
        if tokens and tokens[0] == token:
            return tokens.pop(0)

    def choice():
        test = binary(0)
        if not take("?"):
            return test
        yes = choice()
        take(":")
        no = choice()
        return yes if test else no

    def binary(level):
        if level == len(LEVELS):
            return operand()
        left = binary(level + 1)
        while tokens and tokens[0] in LEVELS[level]:
            operator, right = OPERATORS[tokens.pop(0)], binary(level + 1)
            left = None if left is None or right is None else operator(left, right)
        return left

    def operand():
        token = tokens.pop(0)
        if token == "(":
            value = choice()
            take(")")
            return value
        if token[0].isdigit():
            return float(token)
        if token == "unknown":
            return None
        if not take("("):
            return names[token]
        values = [choice()]
        while take(","):
            values.append(choice())
        take(")")
        if token == "known_or":
            return values[1] if values[0] is None else values[0]
        if token == "at_most":
            return values[0] if None in values else min(values)
        return None if None in values else FUNCTIONS[token](*values)

    return choice()


def same(a, b):
    # one in the last of twelve digits: where a part ends in exactly half of it, two machines may round it differently
    return a == b or (None not in (a, b) and math.isclose(a, b, rel_tol=1.01e-11, abs_tol=1e-290))


def number_text(value):
    """A number as ECMAScript writes it, which is the form that RFC 8785 asks for."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits, point = "".join(map(str, digits)), len(digits) + exponent
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = digits[0] + (f".{digits[1:]}" if digits[1:] else "") + f"e{point - 1:+d}"
    return "-" * sign + text


def canonical(value):
    """JSON by RFC 8785: no spaces, the keys of every object in order of their UTF-16 units."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def fact(facts, path):
    """The number at a path such as usage.promptTokens; of a time its milliseconds since 1970."""
    for name in path.split("."):
        facts = (facts or {}).get(name)
    if isinstance(facts, str):
        return round(datetime.fromisoformat(facts.replace("Z", "+00:00")).timestamp() * 1000)
    return facts


class Checks:
    def __init__(self):
        self.faults = 0

    def compare(self, what, stated, follows, equal=lambda a, b: a == b):
        if not equal(stated, follows):
            self.faults += 1
            print(f"{what}: {stated} is stated, {follows} follows")
            return False
        return True


FACTS_OF_FACTORS = {"grid_intensity": "grid.gPerKwh", "WUE_grid": "grid.waterLPerKwh"}
MATCHES = ["live_window", "fresh", "forecast", "prior_week", "annual_fallback", "none"]


def check_steps(lineage, checks):
    """The outputs by the ids of their steps."""
    facts, outputs = lineage["facts"], {}
    for step in lineage["steps"]:
        names = {each["name"]: each["value"] for each in step["inputs"] + step["factors"]}
        for given in step["inputs"]:  # what another step gives is taken from that step, not from what is printed here
            if given["source"].startswith("step "):
                names[given["name"]] = outputs[given["source"][5:]]
            elif given["fact"]:
                checks.compare(f"{step['id']}, {given['name']}", given["value"], fact(facts, given["fact"]))
        for factor in step["factors"]:
            if factor["name"] in FACTS_OF_FACTORS:
                path = FACTS_OF_FACTORS[factor["name"]]
                checks.compare(f"{step['id']}, {factor['name']}", factor["value"], fact(facts, path))
        value = evaluate(step["evaluated_as"] or step["formula"], names)
        outputs[step["id"]] = value
        checks.compare(step["id"], step["output"]["value"], value, same)
    return outputs


def check_call(lineage, receipt, checks):
    sealed = {name: lineage[name] for name in ("call", "facts", "methodology_hash") if name in lineage}
    digest = "sha256:" + hashlib.sha256(canonical(sealed).encode()).hexdigest()
    print(f"digest {digest}")
    checks.compare("digest", lineage["digest"], digest)
    checks.compare("lineage_digest of the receipt", receipt.get("lineage_digest", digest), digest)
    for field in ("id", "version", "created_at", "model", "provider", "region", "project"):
        if field in receipt:
            checks.compare(f"{field} of the receipt", receipt[field], lineage.get("call", {}).get(field))


def check_receipt(receipt, outputs, checks):
    if "sci_g_per_request" not in outputs:  # methodologies before gw-1.4 have no step for it
        outputs["sci_g_per_request"] = outputs["carbon_g"] if "carbon_embodied_g" in outputs else None
    if "grid_temporal_match_number" in outputs and "grid_temporal_match" in receipt:
        match = MATCHES[int(outputs["grid_temporal_match_number"])]
        checks.compare("grid_temporal_match", receipt["grid_temporal_match"], match)
    for field, stated in receipt.items():
        if field not in outputs and (stated is None or not re.search("_(wh|g|ml|per_request)$", field)):
            continue  # words, counts, and parts that are outside the boundary
        if checks.compare(field, stated, outputs.get(field), same):
            print(f"{field} {stated}")


def vouchers(lineage):
    """Who vouches for what: each source with its inputs, then each published source with its factors."""
    of = {}
    for step in lineage["steps"]:
        for given in step["inputs"]:
            if not given["source"].startswith("step "):
                of.setdefault(("input", given["source"]), set()).add(given["name"])
        for factor in step["factors"]:
            licence = factor["licence"] or "no licence stated"
            where = ", ".join(filter(None, [factor["version"], factor["date"], licence, factor["locator"]]))
            of.setdefault(("factor", f"{factor['source']} ({where})"), set()).add(factor["name"])
    sources = {each["source"]: each for each in lineage["sources"]}
    for (kind, source), names in sorted(of.items(), reverse=True):
        who = sources.get(source)
        told = f"{source}: {' '.join(sorted(names))}"
        if kind == "input" and who:
            version = f", catalogue version {who['catalogue_version']}" if who["catalogue_version"] else ""
            told += f"; vouched by {who['vouched_by'] or 'nobody that is named'}, {who['since'] or 'undated'}{version}"
            for each in who["evidence"]:
                told += f"; {each['of']} {each['kind']}: {each['source']}, {each['period'] or 'no period stated'}"
        print(told)


def main(lineage_file, receipt_file=None):
    reply, receipt = json.load(open(lineage_file)), json.load(open(receipt_file)) if receipt_file else {}
    for name, each in ((lineage_file, reply), (receipt_file, receipt)):
        if "error" in each:
            print(f"{name} holds an error of the gateway: {each['error'].get('message')}")
            return 1
    lineage = reply.get("lineage")
    if lineage is None:
        print(f"{lineage_file} holds no lineage. {reply.get('explanation') or 'Save the reply of GET /v1/gw/lineage/{id}.'}")
        return 1
    checks = Checks()
    vouchers(lineage)
    check_call(lineage, receipt, checks)
    check_receipt(receipt, check_steps(lineage, checks), checks)
    print(f"{len(lineage['steps'])} steps, {checks.faults} faults")
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

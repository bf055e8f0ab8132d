#!/usr/bin/env python3
"""Recomputes a receipt from its lineage alone: python3 recompute.py lineage.json [receipt.json]

lineage.json is the reply of GET /v1/gw/lineage/{id}, receipt.json that of GET /v1/gw/receipts/{id}. Needs nothing but
Python 3. Exit code 1 if a step's output does not follow from its formula, or a number of the receipt from the lineage.
"""
import json
import math
import re
import sys
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


def main(lineage_file, receipt_file=None):
    lineage = json.load(open(lineage_file))["lineage"]
    outputs, faults = {}, 0
    for step in lineage["steps"]:
        names = {each["name"]: each["value"] for each in step["inputs"] + step["factors"]}
        for given in step["inputs"]:  # what another step gives is taken from that step, not from what is printed here
            if given["source"].startswith("step "):
                names[given["name"]] = outputs[given["source"][5:]]
        value = evaluate(step["evaluated_as"] or step["formula"], names)
        outputs[step["id"]] = value
        if not same(value, step["output"]["value"]):
            faults += 1
            print(f"{step['id']}: {step['output']['value']} is stated, {value} follows")
    receipt = json.load(open(receipt_file)) if receipt_file else {}
    outputs["sci_g_per_request"] = outputs["carbon_g"] if "carbon_embodied_g" in outputs else None
    for field, stated in receipt.items():
        if field not in outputs and (stated is None or not re.search("_(wh|g|ml|per_request)$", field)):
            continue  # words, counts, and parts that are outside the boundary
        # What a measured figure is compared with is stated, and nothing follows from it.
        follows = lineage.get(field) if field == "modelled_energy_wh" else outputs.get(field)
        faults += not same(stated, follows)
        print(f"{field} {stated}" + ("" if same(stated, follows) else f" is stated, {follows} follows"))
    print(f"{len(lineage['steps'])} steps, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

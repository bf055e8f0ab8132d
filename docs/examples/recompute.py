#!/usr/bin/env python3
"""Recomputes a receipt from its lineage: python3 recompute.py lineage.json [receipt.json [methodology.json]]

lineage.json is the reply of GET /v1/gw/lineage/{id}, receipt.json that of GET /v1/gw/receipts/{id}, methodology.json that of
GET /v1/gw/methodology/{methodology_hash}. Needs nothing but Python 3 and the two files recompute_*.py beside it. Says who
vouches for what went in. Exit code 1 if anything does not follow: the digest from the call and its facts, an input from the
fact that it names, a formula, factor or unit from the methodology, a step's output from its formula, a word or number of the
receipt from the lineage, or if one is not there. Without the methodology it says that formulas and factors were not checked.
"""
import hashlib
import json
import math
import sys

from recompute_formulas import canonical, evaluate, names_in
from recompute_words import EARLIER, ecologits, facts_of_factors, given_name, has_ecologits, lineage_words, receipt_words, value_of

# What nothing in a lineage tells. Terms of a grid value's source: no number comes of them, and the methodology has none.
TERMS = ("licence", "date", "locator")
# What each step has, and what some have.
STEP, MAYBE = ("id", "formula", "origin", "inputs", "output"), ("evaluated_as", "uncertainty")
# Of the reply. How a call ended is only known of one that was cut short.
NOT_CHECKED = ["request_id", "request_digest", "answer_digest"]
ENDINGS = ["complete", "client_aborted", "upstream_error"]


def same(a, b):
    # one in the last of twelve digits: where a part ends in exactly half of it, two machines may round it differently
    return a == b or (None not in (a, b) and math.isclose(a, b, rel_tol=1.01e-11, abs_tol=1e-290))


def equal(a, b):
    """As JSON: true is not 1, though Python says so."""
    if a is b or type(a) is type(b) and isinstance(a, (str, int, float)):
        return a == b
    return canonical(a) == canonical(b)


class Checks:
    def __init__(self):
        self.faults = 0

    def compare(self, what, stated, follows, alike=equal):
        if not alike(stated, follows):
            self.faults += 1
            print(f"{what}: {stated} is stated, {follows} follows")
            return False
        return True

    def compare_fields(self, what, stated, follows):
        """Every field that follows is there, and no other."""
        for name in sorted(stated.keys() | follows.keys()):
            self.compare(f"{what}{name}", stated.get(name, "nothing"), follows.get(name, "nothing"))


def check_methodology(lineage, text, checks):
    """The document with that text, whose hash the lineage states; None if there is none."""
    if text is None:
        print("factors and formulas were not checked: give the methodology document as the third file")
        return None
    checks.compare("methodology_hash", lineage["methodology_hash"], "sha256:" + hashlib.sha256(text).hexdigest())
    document = json.loads(text)
    checks.compare("methodology", lineage["methodology"], document["id"])
    checks.compare("methodology_version", lineage["methodology_version"], document["version"])
    document["variants"] = {}
    for key, each in document["steps"].items():
        document["variants"].setdefault(key.split("/")[0], []).append(each)
    return document


def check_formula(step, document, checks):
    """Formula, unit and origin are those of a variant of the step in the methodology."""
    if "functions" not in document:  # EcoLogits' formulas are written for readers, and are not all that is evaluated
        return
    variants = document["variants"].get(step["id"].split("@")[0], [])
    stated = {"unit": step["output"]["unit"], "formula": step["formula"], "origin": step["origin"]}
    if stated not in variants:
        checks.compare(step["id"], stated, "none of the methodology")
    checks.compare(f"{step['id']}, evaluated_as", step.get("evaluated_as"), None)


def check_input(given, lineage, document, checks):
    """A fact is what the methodology says of it, or at least what stands in its place."""
    name, _, run = given["name"].partition("@")
    table = (document or {}).get("inputs", {})
    if name in table:
        about = value_of(table[name], name, run, lineage)
        checks.compare_fields(f"{given['name']}, ", given, {"name": given["name"], **about})
    elif given["fact"]:
        follows = value_of({"fact": given["fact"]}, None, run, lineage)["value"]
        checks.compare(given["name"], given["value"], follows)
    elif table:
        checks.compare(given["name"], "an input", "none of the methodology")


def check_factor(factor, lineage, document, checks):
    name = factor["name"]
    follows = facts_of_factors(lineage).get(name)
    table = (document or {}).get("factors", {})
    if follows is not None:
        follows = {**{term: factor[term] for term in TERMS}, "uncertainty": factor["uncertainty"], **follows}
        follows.update(document["gridFactors"][name] if table else {})
    else:
        tables = (("factorsOfClasses", "model_class"), ("factorsOfServing", "serving"))
        found = [(document or {}).get(each, {}).get(lineage["calculation"][key], {}) for each, key in tables]
        follows = next((each[name] for each in (table, *found) if name in each), None)
    if follows is not None:
        checks.compare_fields(f"{name}, ", factor, {"name": name, **follows})
    elif table:
        checks.compare(name, factor["value"], "no factor of the methodology")


def operands(step, ids, given, outputs, lineage, checks):
    """The values of the names in a formula: of the step of the same run, else of the one that all runs share, else of what is given."""
    id, run = step["id"], step["id"].partition("@")[2]
    names = names_in(step.get("evaluated_as") or step["formula"])
    checks.compare(f"operands of {id}", len(step["inputs"]), len(names))
    values = {}
    for name, stated in zip(names, step["inputs"]):
        own_run = f"{name}@{run}"
        giver = own_run if own_run in ids and own_run != id else name if name in ids else given_name(name, run, lineage)
        checks.compare(f"{id}, {name}", stated, giver)
        values[name] = outputs[giver] if giver in ids else given[giver]
    return values


def check_steps(lineage, document, checks):
    """The outputs by the ids of their steps."""
    ids, outputs, given = {step["id"] for step in lineage["steps"]}, {}, {}
    for each in lineage["inputs"]:
        given[each["name"]] = each["value"]
        check_input(each, lineage, document, checks)
    for each in lineage["factors"]:
        given[each["name"]] = each["value"]
        check_factor(each, lineage, document, checks)
    checks.compare("ids of the steps", len(ids), len(lineage["steps"]))
    for step in lineage["steps"]:
        id, formula = step["id"], step.get("evaluated_as") or step["formula"]
        if document:
            check_formula(step, document, checks)
        outputs[id] = evaluate(formula, operands(step, ids, given, outputs, lineage, checks))
        checks.compare(id, step["output"]["value"], outputs[id], same)
        checks.compare_fields(f"{id}, ", {name: 0 for name in step}, {name: 0 for name in STEP} | {name: 0 for name in MAYBE if name in step})
        checks.compare(f"{id}, output", sorted(step["output"]), ["unit", "value"])
    read = {name for step in lineage["steps"] for name in step["inputs"]} - ids
    checks.compare("inputs and factors", sorted([each["name"] for each in lineage["inputs"] + lineage["factors"]]), sorted(read))
    check_bounds(lineage, outputs, checks)
    return outputs


def check_bounds(lineage, outputs, checks):
    for step in lineage["steps"]:
        ends = {end: outputs.get(f"{step['id']}@{end}", "nothing") for end in ("low", "high")}
        stated = step.get("uncertainty")
        if "nothing" in ends.values():
            checks.compare(f"{step['id']}, uncertainty", stated, None)
            continue
        checks.compare_fields(f"{step['id']}, uncertainty, ", {**stated, **ends}, {**ends, "basis": lineage["uncertainty_basis"]})
        for end in ends:
            checks.compare(f"{step['id']}, uncertainty, {end}", stated[end], ends[end], same)


def check_digest(lineage, checks):
    sealed = {name: lineage[name] for name in ("call", "facts", "methodology_hash") if name in lineage}
    digest = "sha256:" + hashlib.sha256(canonical(sealed).encode()).hexdigest()
    print(f"digest {digest}")
    checks.compare("digest", lineage["digest"], digest)


def check_receipt(receipt, lineage, outputs, checks):
    follows = receipt_words(lineage, outputs)
    is_early = lineage["methodology"] in EARLIER
    if "call" in lineage:
        cut_short = lineage["facts"].get("isCutShort", False)
        if receipt.get("status") not in ENDINGS[cut_short:]:
            checks.compare("status of the receipt", receipt.get("status", "nothing"), " or ".join(ENDINGS[cut_short:]))
        if "lineage_digest" not in receipt and is_early:
            del follows["lineage_digest"]
    for field in sorted(receipt.keys() | follows.keys()):
        if field in NOT_CHECKED or ("call" in lineage and field == "status"):
            continue
        if field == "grid_temporal_match" and field not in follows and is_early:
            continue  # no step gives it
        if field == "project" and receipt.get(field) is None and follows.get(field) is None:
            continue  # absent in receipts from before there were projects
        stated, value = receipt.get(field, "nothing"), follows.get(field, "nothing")
        both = isinstance(stated, (int, float)) and isinstance(value, (int, float)) and not isinstance(stated, bool)
        if checks.compare(f"{field} of the receipt", stated, value, same if both else equal) and field in outputs:
            print(f"{field} {stated}")


def check(lineage, receipt, text, checks):
    """All of it. `text`: the methodology document as bytes, or None; `receipt`: None to look at the lineage alone."""
    try:
        document = check_methodology(lineage, text, checks)
        check_digest(lineage, checks)
        outputs = check_steps(lineage, document, checks)
        checks.compare_fields("", lineage, lineage_words(lineage, receipt, outputs))
        if "modelled_energy_wh" in outputs:
            checks.compare("modelled_energy_wh", lineage["modelled_energy_wh"], outputs["modelled_energy_wh"], same)
        if has_ecologits(lineage):
            stated, follows = lineage["ecologits"], ecologits(lineage["facts"])
            checks.compare("ecologits", sorted(stated), sorted(follows))
            for name, value in follows.items():
                checks.compare(f"ecologits, {name}", stated[name], value, equal if isinstance(value, str) else same)
        if receipt is not None:
            check_receipt(receipt, lineage, outputs, checks)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        checks.faults += 1
        print(f"this is not the form of a lineage: {type(error).__name__} {error}")


def vouchers(lineage):
    """Who vouches for what: each source with its inputs, then each published source with its factors."""
    of = {}
    for given in lineage["inputs"]:
        of.setdefault(("input", given["source"]), set()).add(given["name"])
    for factor in lineage["factors"]:
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


def main(lineage_file, receipt_file=None, methodology_file=None):
    reply, receipt = json.load(open(lineage_file)), json.load(open(receipt_file)) if receipt_file else None
    text = open(methodology_file, "rb").read() if methodology_file else None
    for name, each in ((lineage_file, reply), (receipt_file, receipt or {})):
        if "error" in each:
            print(f"{name} holds an error of the gateway: {each['error'].get('message')}")
            return 1
    lineage = reply.get("lineage")
    if lineage is None:
        print(f"{lineage_file} holds no lineage. {reply.get('explanation') or 'Save the reply of GET /v1/gw/lineage/{id}.'}")
        return 1
    checks = Checks()
    check(lineage, receipt, text, checks)
    vouchers(lineage)
    print(f"{len(lineage.get('steps', []))} steps, {checks.faults} faults")
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Alters and leaves out each value of receipts and lineages, one at a time, and says which of that recompute.py did not find.

python3 mutations.py <folder of recompute.py> <kinds.json> <every so many leaves of a receipt> <and of a lineage>

Those at the top of a lineage are tried all.
"""
import contextlib
import io
import json
import sys

sys.path.insert(0, sys.argv[1])
import recompute


def leaves(value, path=()):
    if not isinstance(value, (dict, list)):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, item in list(items) for leaf in leaves(item, (*path, key))]


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if isinstance(value, int) else value * 1.001 or 1.5
    return 1 if value is None else f"{value} "


def faults(each):
    checks = recompute.Checks()
    with contextlib.redirect_stdout(io.StringIO()):
        recompute.check(each["lineage"], each["receipt"], each["document"].encode(), checks)
    return checks.faults


def mutated(each, path):
    """The values at a path changed, then left out."""
    holder = each
    for key in path[:-1]:
        holder = holder[key]
    last, before = path[-1], holder.copy()
    holder[last] = other(holder[last])
    yield "changed"
    del holder[last]
    yield "left out"
    holder.clear()
    holder.update(before) if isinstance(holder, dict) else holder.extend(before)


def name_of(each, path):
    """Of the factor that a path is in."""
    for key in path:
        each = each[key]
        if isinstance(each, dict) and "licence" in each and "name" in each:
            return each["name"]
    return ""


found = {}
for at, each in enumerate(json.load(open(sys.argv[2]))):
    whole = faults(each)
    paths = []
    for part, stride in (("receipt", int(sys.argv[3])), ("lineage", int(sys.argv[4]))):
        paths += [(part, *path) for path in leaves(each[part])[at % stride :: stride]]
    paths += [("lineage", name) for name, value in each["lineage"].items() if not isinstance(value, (dict, list))]
    missed = []
    for path in paths:
        name = name_of(each, path)
        missed += [(".".join(map(str, path)), how, name) for how in mutated(each, path) if not faults(each)]
    found[each["name"]] = {"whole": whole, "missed": missed}
print(json.dumps(found))

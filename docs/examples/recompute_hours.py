"""Whether a pack has each entry that the log has of its period; a part of recompute_pack.py.

The checkpoint signs the root of a tree with a place for each hour since 1970, 2^24 of them. A part of it without hours has the hash of nothing, an
hour the hash of what is said of it, and other parts are hashed pair by pair (RFC 6962).
"""
import calendar
import hashlib
import re
import time

import recompute

HOURS = 1 << 24
HOUR = 3_600_000
EMPTY = hashlib.sha256(b"").hexdigest()
HASH = re.compile("[0-9a-f]{64}")
MOST_TIMES = 100_000


def ms_of(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) * 1000 + int(fraction.ljust(3, "0")[:3] or 0)


def pair(left, right):
    if left == right == EMPTY:
        return EMPTY
    return hashlib.sha256(b"\x01" + bytes.fromhex(left) + bytes.fromhex(right)).hexdigest()


def hour_hash(hour):
    said = {name: hour[name] for name in ("hour", "ranges", "times_digest")}
    return hashlib.sha256(b"\x00" + recompute.canonical(said).encode()).hexdigest()


def root_of(hours, first, last, path, beside, begin=0, size=HOURS):
    """The root, from the hashes of the hours by their places, and of what is beside the places from `first` to before `last`.

    `beside`: gets the first place of each part there that has hours."""
    if begin + size <= first or begin >= last:
        found = path.pop(0)
        if found != EMPTY:
            beside.append(begin)
        return found
    if first <= begin and begin + size <= last:
        if not hours:
            return EMPTY
        if size == 1:
            return hours[begin]
    half = size // 2
    left = {place: each for place, each in hours.items() if place < begin + half}
    right = {place: each for place, each in hours.items() if place >= begin + half}
    found = root_of(left, first, last, path, beside, begin, half)
    return pair(found, root_of(right, first, last, path, beside, begin + half, half))


def indexes_of(hour):
    return [index for first, count in hour["ranges"] for index in range(first, first + count)]


def times_digest(times):
    digest = "0" * 64
    for each in times:
        digest = hashlib.sha256(f"{digest}\n{each}".encode()).hexdigest()
    return digest


def runs(indexes):
    """Such as 3 to 5, 7 to 7."""
    found = []
    for index in sorted(indexes):
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return ", ".join(f"{first} to {last}" for first, last in found)


def in_form(hours):
    if type(hours) is not dict or hours.keys() != {"shown", "path"}:
        return False
    is_path = all(isinstance(each, str) and HASH.fullmatch(each) for each in hours["path"])
    return is_path and all(ms_of(each["hour"]) % HOUR == 0 for each in hours["shown"])


def check(head, indexes, archived, checks):
    """`indexes`: of the entries that the pack has, with the time of the call; None: it is left out by name. `archived`: of archived months."""
    log, temporal, selection = head.get("log") or {}, head.get("temporal"), head["selection"]
    checkpoint, hours = log.get("checkpoint"), log.get("hours")
    is_part = temporal is None or any(name in selection for name in ("model", "region", "receipt_ids"))
    if is_part or checkpoint is None:
        checks.compare("hours: none, of some receipts alone", hours, None)
        return
    if not checks.compare("hours: form", in_form(hours), True):
        return
    start, end = ms_of(temporal["start"]), ms_of(temporal["end"])
    places = {ms_of(each["hour"]) // HOUR: each for each in hours["shown"]}
    first, last = (min(max(at, 0), HOURS) for at in (start // HOUR, -(-end // HOUR)))
    path, hashes = list(hours["path"]), {place: hour_hash(each) for place, each in places.items()}
    # One that is missing has no hash.
    path += [EMPTY] * 100
    beside = []
    root = root_of({place: each for place, each in hashes.items() if first <= place < last}, first, last, path, beside)
    fits = len(path) == 100 and all(first <= place < last for place in places) and len(places) == len(hours["shown"])
    checks.compare("hours: as many hashes and hours as there have to be", fits, True)
    if not checks.compare("hours: root", root, checkpoint["hours_root"]):
        return
    whole, opened = 0, []
    for place, hour in places.items():
        own, begin, times = indexes_of(hour), place * HOUR, hour.get("times")
        if begin < start or begin + HOUR > end:
            if times is None and len(own) > MOST_TIMES:
                opened.append(hour["hour"])
                continue
            if not checks.compare(f"hours: times of {hour['hour']}", times_digest(times or []), hour["times_digest"]):
                continue
            at = dict(zip(own, times))
            for index in own:
                if indexes.get(index) is not None:
                    checks.compare(f"hours: time of the entry {index}", ms_of(indexes[index]), at[index])
            own = [index for index in own if start <= at[index] < end]
        whole += checks.compare(f"hours: entries of {hour['hour']} that the pack lacks", runs(set(own) - indexes.keys()), "")
    for index, created in indexes.items():
        if created is not None:
            own = places.get(ms_of(created) // HOUR, {"ranges": []})["ranges"]
            is_there = any(first <= index < first + count for first, count in own)
            if not is_there:
                checks.compare(f"hours: the hour of the entry {index}", created, "another")
    now = ms_of(checkpoint["issued"]) // HOUR
    ahead = [place for place in [*beside, *places] if place > now]
    checks.compare("hours: after the one in which the checkpoint was signed", ahead, [])
    if all(place > now for place in beside):
        every = sorted(archived + [index for hour in places.values() for index in indexes_of(hour)])
        checks.compare("hours: each entry of the log", every == list(range(checkpoint["tree_size"])), True)
    cut = f"; not known whether all of {', '.join(opened)} are there" if opened else ""
    print(f"hours: complete until {min(temporal['end'], checkpoint['complete_until'])}, {whole} hours whole{cut}")

"""What the checks share: the client, the list of checks, how they compare, and how they are run."""

import json
import os
import traceback

from openai import OpenAI

BASE_URL = os.environ["GW_TEST_BASE_URL"]
KEY = os.environ["GW_TEST_KEY"]
QUICK = {"x-sim-tokens-per-second": "0"}
MESSAGES = [{"role": "user", "content": "What is the weather?"}]

client = OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0, default_headers=QUICK)
checks = []


def check(name):
    """The name is the promise that the function holds."""

    def register(function):
        checks.append((name, function))
        return function

    return register


def simulated(**headers):
    return {"x-sim-" + name.replace("_", "-"): str(value) for name, value in headers.items()}


def chat(using=client, **fields):
    return using.chat.completions.create(**{"model": "sim-small", "messages": MESSAGES, **fields})


def fetched(receipt_id):
    return client.get(f"/gw/receipts/{receipt_id}", cast_to=object)


def receipt_in(reply):
    """The receipt of a reply, which alone has the salt."""
    return {name: value for name, value in reply.gw.items() if name != "salt"}


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def raised(kind, call, **expected):
    """The error of that very class, with these attributes and the id of its request."""
    try:
        call()
    except kind as error:
        equal({name: getattr(error, name) for name in expected}, expected)
        assert error.request_id, "the error has no request id"
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def failure_of(function):
    try:
        function()
    except Exception:
        return traceback.format_exc(limit=-3)
    return None


def run_all():
    for name, function in checks:
        print(json.dumps({"name": name, "failure": failure_of(function)}), flush=True)
    print(json.dumps({"checks": len(checks)}), flush=True)

"""The class that each client raises for each error of the catalogue, from a server that has the replies of the product."""

import json
import os

from anthropic import Anthropic
from harness import MESSAGES, check, equal
from openai import OpenAI


def raised_by(call):
    try:
        call()
    except Exception as error:
        return error
    return None


def asks(url):
    openai = OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)
    own = Anthropic(base_url=url, api_key="any", max_retries=0)
    chat = {"model": "any", "messages": MESSAGES}
    return {
        "chat": lambda **more: openai.chat.completions.create(**chat, **more),
        "responses": lambda **more: openai.responses.create(model="any", input="Hello", **more),
        "messages": lambda **more: own.messages.create(**chat, max_tokens=10, **more),
    }


def register(code, url, classes):
    @check(code)
    def _():
        known = asks(url)
        for api, expected in classes.items():
            for more in ({}, {"stream": True}):
                error = raised_by(lambda: known[api](**more))
                found = error.body["error"]["code"] if api == "messages" else error.code
                equal((api, type(error).__name__, found), (api, expected, code))


for line in json.loads(os.environ["GW_TEST_ERRORS"]):
    register(**line)

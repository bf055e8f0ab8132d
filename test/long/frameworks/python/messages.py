"""`anthropic`: create, stream, tools, thinking and errors by the Messages API."""

import os

import anthropic
from anthropic import Anthropic
from harness import BASE_URL, KEY, QUICK, check, equal, fetched, raised, simulated

URL = BASE_URL.removesuffix("/v1")
client = Anthropic(base_url=URL, api_key=KEY, max_retries=0, default_headers=QUICK)
USER = {"role": "user", "content": "What is the weather?"}
ASK = {"model": "sim-large", "max_tokens": 2000, "messages": [USER]}
TOOL = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@check("create has the receipt that is fetched by its id, also in its usage")
def _():
    message = client.messages.create(**ASK)
    assert "simulated" in message.content[0].text
    equal(fetched(message.gw["id"]), message.gw)
    equal(message.usage.gw["receipt_id"], message.gw["id"])
    equal((message.gw["prompt_tokens"], message.gw["completion_tokens"]), (message.usage.input_tokens, message.usage.output_tokens))
    equal(message._request_id, message.gw["request_id"])


@check("count_tokens counts the prompt, what is added to it too")
def _():
    count = lambda **more: client.messages.count_tokens(model=ASK["model"], messages=[USER], **more).input_tokens  # noqa: E731
    assert 0 < count() < count(system="Say it in one word.") < count(system="Say it in one word.", tools=[TOOL])


@check("the key may come as a token")
def _():
    own = Anthropic(base_url=URL, auth_token=KEY, api_key=None, max_retries=0, default_headers=QUICK)
    equal(own.messages.create(**ASK).gw["status"], "complete")


@check("a stream adds up to the message, and its message_delta alone has the receipt")
def _():
    whole = client.messages.create(**ASK)
    with client.messages.stream(**ASK) as stream:
        events = list(stream)
        final = stream.get_final_message()
    equal([event.type for event in events if hasattr(event, "gw")], ["message_delta"])
    equal(final.content[0].text, whole.content[0].text)
    equal((final.stop_reason, final.usage.output_tokens), ("end_turn", whole.usage.output_tokens))


@check("a tool is called, in a stream too, and its result goes into the next turn")
def _():
    asked = {**ASK, "tools": [TOOL]}
    first = client.messages.create(**asked, tool_choice={"type": "any"})
    (use,) = first.content
    equal((use.name, use.input, first.stop_reason), ("weather", {"city": "simulated"}, "tool_use"))
    with client.messages.stream(**asked, tool_choice={"type": "any"}) as stream:
        equal(stream.get_final_message().content[0].input, use.input)
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "Sunny"}
    turns = [USER, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    equal(client.messages.create(**{**asked, "messages": turns}).stop_reason, "end_turn")


@check("thinking comes with its signature, in a stream too, and goes back")
def _():
    asked = {**ASK, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    first = client.messages.create(**asked)
    equal([block.type for block in first.content], ["thinking", "text"])
    assert first.content[0].signature
    with client.messages.stream(**asked) as stream:
        equal(stream.get_final_message().content[0].signature, first.content[0].signature)
    turns = [USER, {"role": "assistant", "content": first.content}, {"role": "user", "content": "And?"}]
    equal(client.messages.create(**{**asked, "messages": turns}).gw["status"], "complete")


def error_of(kind, call, code):
    error = raised(kind, call)
    equal((error.body["error"]["code"], error.body["request_id"]), (code, error.request_id))


@check("errors are of the classes of the client")
def _():
    create = client.messages.create
    error_of(anthropic.BadRequestError, lambda: create(**{**ASK, "max_tokens": -1}), "invalid_max_tokens")
    wrong = Anthropic(base_url=URL, api_key="gw_no", max_retries=0)
    error_of(anthropic.AuthenticationError, lambda: wrong.messages.create(**ASK), "invalid_api_key")
    readers = Anthropic(base_url=URL, api_key=os.environ["GW_TEST_READ_ONLY_KEY"], max_retries=0)
    error_of(anthropic.PermissionDeniedError, lambda: readers.messages.create(**ASK), "insufficient_scope")
    error_of(anthropic.NotFoundError, lambda: client.messages.batches.list(), "unknown_endpoint")
    failing = lambda fault: lambda: create(**ASK, extra_headers=simulated(fault=fault))  # noqa: E731
    error_of(anthropic.InternalServerError, failing("status-429"), "upstream_rate_limited")
    full = raised(anthropic.InternalServerError, failing("status-529"))
    equal(full.type, "overloaded_error")


@check("an error in a stream is raised")
def _():
    def read():
        with client.messages.stream(**ASK, extra_headers=simulated(fault="error-event")) as stream:
            list(stream)

    equal(raised(anthropic.APIStatusError, read).body["error"]["type"], "overloaded_error")

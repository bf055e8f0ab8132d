"""Replies, streams and the catalogue."""

import asyncio
import json
import uuid
from decimal import Decimal

from harness import BASE_URL, KEY, MESSAGES, QUICK, chat, check, client, equal, fetched, receipt_in, simulated
from openai import AsyncOpenAI

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    },
}


@check("a chat completion has gw and routing_trace as attributes, and the receipt equals the one fetched by its id")
def _():
    reply = chat(extra_headers=simulated(tokens=12))
    assert "simulated" in reply.choices[0].message.content
    equal(reply.usage.completion_tokens, 12)
    equal((reply.gw["completion_tokens"], reply.gw["prompt_tokens"]), (12, reply.usage.prompt_tokens))
    equal((reply.gw["tier"], reply.gw["status"]), ("parametric", "complete"))
    equal(reply.routing_trace["region"], reply.gw["region"])
    equal(fetched(reply.gw["id"]), receipt_in(reply))


@check("the same call with the same Idempotency-Key is replayed: the same reply and receipt, JSON and stream")
def _():
    create = client.chat.completions.with_raw_response.create
    for fields in ({}, {"stream": True}):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        first, again = (
            create(model="sim-small", messages=MESSAGES, extra_headers=key, **fields).http_response for _ in range(2)
        )
        equal(first.read(), again.read())
        equal(first.headers.get("idempotent-replayed"), None)
        equal(again.headers["idempotent-replayed"], "true")
        equal(again.headers["x-gw-receipt-id"], first.headers["x-gw-receipt-id"])
        assert again.headers["x-request-id"] != first.headers["x-request-id"]


@check("the parts of energy and carbon add up to their totals, digit by digit")
def _():
    raw = client.chat.completions.with_raw_response.create(model="sim-large", messages=MESSAGES)
    gw = json.loads(raw.text, parse_float=Decimal, parse_int=Decimal)["gw"]
    equal(sum(gw[f"energy_{part}_wh"] for part in ("accelerator", "host", "idle", "overhead")), gw["energy_wh"])
    equal(gw["carbon_operation_g"] + gw["carbon_embodied_g"], gw["carbon_g"])


@check("extra_body sets region, boundary and tier")
def _():
    options = {"region": "eu-west", "boundary": "narrow", "tier": "proxy"}
    calls = [
        chat(extra_body={"gw": options}),
        client.completions.create(model="sim-small", prompt="One", extra_body={"gw": options}),
        client.embeddings.create(model="sim-embed", input="One", extra_body={"gw": options}),
    ]
    for reply in calls:
        equal({name: reply.gw[name] for name in options}, options)
        equal((reply.routing_trace["policy"], reply.gw["water_ml"]), ("pinned", None))


@check("choices[0] of every chunk of a stream works, and the last one carries the receipt")
def _():
    whole = chat(extra_headers=simulated(tokens=9)).choices[0].message.content
    chunks = list(chat(stream=True, extra_headers=simulated(tokens=9)))
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks), whole)
    equal([hasattr(chunk, "gw") for chunk in chunks], [False] * (len(chunks) - 1) + [True])
    equal([chunk.usage for chunk in chunks], [None] * len(chunks))
    last = chunks[-1]
    equal((last.gw["completion_tokens"], last.routing_trace["region"]), (9, last.gw["region"]))
    equal(fetched(last.gw["id"]), receipt_in(last))


@check("a stream with include_usage ends with usage and receipt on a chunk without choices, and the one before has it too")
def _():
    chunks = list(chat(stream=True, stream_options={"include_usage": True}, extra_headers=simulated(tokens=9)))
    last = chunks[-1]
    equal((last.choices, last.usage.completion_tokens, last.gw["completion_tokens"]), ([], 9, 9))
    equal([hasattr(chunk, "gw") for chunk in chunks], [False] * (len(chunks) - 2) + [True, True])
    equal((last.usage.gw["receipt_id"], last.usage.gw["energy_wh"]), (last.gw["id"], last.gw["energy_wh"]))


@check("tools are called with arguments that fit, in JSON and in a stream")
def _():
    fields = {"tools": [WEATHER], "tool_choice": "required"}
    reply = chat(**fields)
    function = reply.choices[0].message.tool_calls[0].function
    equal((function.name, json.loads(function.arguments)), ("weather", {"city": "simulated", "days": 1}))
    chunks = list(chat(stream=True, **fields))
    parts = [call.function.arguments for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    equal("".join(parts), function.arguments)
    equal(chunks[-1].gw["completion_tokens"], reply.usage.completion_tokens)


@check("several choices come with one receipt that counts all of them")
def _():
    reply = chat(n=3, extra_headers=simulated(tokens=7))
    equal([choice.index for choice in reply.choices], [0, 1, 2])
    equal(reply.gw["completion_tokens"], 21)
    chunks = list(chat(n=2, stream=True, extra_headers=simulated(tokens=7)))
    equal((sum(hasattr(chunk, "gw") for chunk in chunks), chunks[-1].gw["completion_tokens"]), (1, 14))


@check("the client's own stream reader ends with the whole text")
def _():
    options = {"include_usage": True}
    with client.chat.completions.stream(model="sim-small", messages=MESSAGES, stream_options=options) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        equal(stream.get_final_completion().choices[0].message.content, text)


@check("characters of every alphabet arrive unchanged in a stream that is cut anywhere")
def _():
    headers = simulated(tokens=60, text="unicode")
    whole = chat(extra_headers=headers).choices[0].message.content
    assert "模拟的回答 🧪" in whole
    chunks = chat(stream=True, extra_headers={**headers, "x-sim-fault": "split"})
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks), whole)


@check("legacy completions answer in JSON and as a stream, both with a receipt")
def _():
    reply = client.completions.create(model="sim-small", prompt=["One", "Two"])
    equal((len(reply.choices), reply.gw["completion_tokens"]), (2, reply.usage.completion_tokens))
    equal(fetched(reply.gw["id"]), receipt_in(reply))
    chunks = list(client.completions.create(model="sim-small", prompt=["One", "Two"], stream=True))
    texts = ["".join(c.text for chunk in chunks for c in chunk.choices if c.index == index) for index in (0, 1)]
    equal(texts, [choice.text for choice in reply.choices])
    equal(chunks[-1].gw["completion_tokens"], reply.usage.completion_tokens)


@check("embeddings are the same as base64, the client's default, and as numbers")
def _():
    request = {"model": "sim-embed", "input": ["One", "Two"], "dimensions": 8}
    packed = client.embeddings.create(**request)
    plain = client.embeddings.create(**request, encoding_format="float")
    equal([item.embedding for item in packed.data], [item.embedding for item in plain.data])
    for reply in (packed, plain):
        equal((reply.gw["prompt_tokens"], reply.gw["completion_tokens"]), (2, 0))
        assert reply.gw["energy_wh"] > 0 and reply.routing_trace["region"]
        equal(fetched(reply.gw["id"]), receipt_in(reply))


@check("models are listed and retrieved")
def _():
    models = client.models.list()
    equal(sorted(model.id for model in models), ["sim-embed", "sim-large", "sim-measured", "sim-small"])
    model = client.models.retrieve("sim-large")
    equal((model.owned_by, model.regions), ("simulator", ["us-east", "eu-north"]))


@check("with_raw_response shows request id, receipt id and limits")
def _():
    raw = client.chat.completions.with_raw_response.create(model="sim-small", messages=MESSAGES)
    reply = raw.parse()
    equal(raw.headers["x-request-id"], reply.gw["request_id"])
    equal(raw.headers["x-gw-receipt-id"], reply.gw["id"])
    for name in ("limit", "remaining", "reset"):
        for kind in ("requests", "day"):
            assert raw.headers[f"x-ratelimit-{name}-{kind}"].isdigit()


@check("the asynchronous client: chat, stream and embedding at once")
def _():
    async def all_at_once():
        async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0, default_headers=QUICK) as asynchronous:

            async def streamed():
                stream = await asynchronous.chat.completions.create(model="sim-small", messages=MESSAGES, stream=True)
                return [chunk async for chunk in stream][-1]

            return await asyncio.gather(
                asynchronous.chat.completions.create(model="sim-small", messages=MESSAGES),
                streamed(),
                asynchronous.embeddings.create(model="sim-embed", input="One"),
            )

    replies = asyncio.run(all_at_once())
    equal(len({reply.gw["id"] for reply in replies}), 3)
    equal([reply.gw["status"] for reply in replies], ["complete"] * 3)

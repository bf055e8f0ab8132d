"""`openai`: create, stream, parse, tools and structured output by the Responses API."""

import asyncio

from harness import BASE_URL, KEY, QUICK, check, client, equal, fetched, raised, simulated
from openai import AsyncOpenAI, BadRequestError, pydantic_function_tool
from pydantic import BaseModel

ASK = {"model": "sim-small", "input": "What is the weather?"}


class Weather(BaseModel):
    city: str
    days: int


TOOL = {
    "type": "function",
    "name": "weather",
    "strict": True,
    "parameters": pydantic_function_tool(Weather)["function"]["parameters"],
}


@check("create has the receipt that is fetched by its id, also in its usage, and is not stored")
def _():
    reply = client.responses.create(**ASK, store=True)
    assert "simulated" in reply.output_text
    equal(fetched(reply.gw["id"]), reply.gw)
    equal(reply.usage.gw["receipt_id"], reply.gw["id"])
    equal((reply.gw["prompt_tokens"], reply.gw["completion_tokens"]), (reply.usage.input_tokens, reply.usage.output_tokens))
    equal(reply.store, False)


@check("create with stream=True ends with the response that has the receipt")
def _():
    *_, last = client.responses.create(**ASK, stream=True)
    equal(last.type, "response.completed")
    equal(last.response.gw["status"], "complete")


@check("stream adds up to the text of create, and its final response has the receipt")
def _():
    with client.responses.stream(**ASK) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    equal("".join(deltas), client.responses.create(**ASK).output_text)
    equal(final.output_text, "".join(deltas))
    equal(final.gw["completion_tokens"], final.usage.output_tokens)


@check("parse and stream give structured output as an object of its class")
def _():
    parsed = client.responses.parse(**ASK, text_format=Weather)
    equal(parsed.output_parsed, Weather(city="simulated", days=1))
    with client.responses.stream(**ASK, text_format=Weather) as stream:
        equal(stream.get_final_response().output_parsed, parsed.output_parsed)
    equal(parsed.gw["status"], "complete")


@check("a tool is called with arguments of its class, and its output goes into the next turn")
def _():
    asked = {**ASK, "tools": [TOOL]}
    first = client.responses.parse(**asked, tool_choice="required")
    (call,) = first.output
    equal(call.parsed_arguments, {"city": "simulated", "days": 1})
    turns = [
        {"role": "user", "content": ASK["input"]},
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"},
    ]
    second = client.responses.create(**{**asked, "input": turns})
    assert "simulated" in second.output_text
    assert second.gw["prompt_tokens"] > first.gw["prompt_tokens"]


@check("reasoning comes encrypted, and goes back")
def _():
    asked = {**ASK, "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "low", "summary": "auto"}}
    first = client.responses.create(**asked)
    equal([item.type for item in first.output], ["reasoning", "message"])
    turns = [item.to_dict(mode="json") for item in first.output]
    again = client.responses.create(**{**asked, "input": [*turns, {"role": "user", "content": "And?"}]})
    equal(again.gw["status"], "complete")


@check("the asynchronous client finds the receipt too")
def _():
    async def ask():
        async with AsyncOpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0, default_headers=QUICK) as own:
            async with own.responses.stream(**ASK) as stream:
                return await stream.get_final_response()

    equal(asyncio.run(ask()).gw["status"], "complete")


@check("what refers to something stored is a BadRequestError by its field")
def _():
    call = lambda: client.responses.create(**ASK, previous_response_id="resp_1")  # noqa: E731
    raised(BadRequestError, call, code="unsupported_field", param="previous_response_id")


@check("a failure in a stream is raised, or is its last event")
def _():
    *_, last = client.responses.create(**ASK, stream=True, extra_headers=simulated(fault="failed-event"))
    equal((last.type, last.response.status), ("response.failed", "failed"))
    assert last.response.gw["id"]

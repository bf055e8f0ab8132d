"""Refusals and failures as the client's own classes."""

import os
import uuid

import openai
from harness import chat, check, client, equal, fetched, raised, simulated


@check("AuthenticationError for a wrong key")
def _():
    stranger = client.with_options(api_key="sk-something-else")
    raised(openai.AuthenticationError, stranger.models.list, status_code=401, code="invalid_api_key", type="auth_error")


@check("PermissionDeniedError for a key without the scope")
def _():
    reader = client.with_options(api_key=os.environ["GW_TEST_READ_ONLY_KEY"])
    expected = {"status_code": 403, "code": "insufficient_scope", "type": "auth_error"}
    raised(openai.PermissionDeniedError, lambda: chat(reader), **expected)


@check("RateLimitError for a spent day budget, at once although the client would retry")
def _():
    limited = client.with_options(api_key=os.environ["GW_TEST_ONE_CALL_KEY"], max_retries=3)
    chat(limited)
    expected = {"status_code": 429, "code": "daily_budget_exceeded", "type": "rate_limit_error"}
    error = raised(openai.RateLimitError, lambda: chat(limited), **expected)
    assert int(error.response.headers["retry-after"]) >= 1
    equal(error.response.request.headers["x-stainless-retry-count"], "0")


@check("BadRequestError with code and param")
def _():
    cases = [
        ({"temperature": 2.1}, "invalid_temperature", "temperature"),
        ({"messages": []}, "invalid_messages", "messages"),
        ({"model": "gpt-none"}, "invalid_model", "model"),
        ({"extra_body": {"gw": {"region": "mars"}}}, "invalid_region", "gw.region"),
        ({"extra_body": {"gw": {"tier": "telemetry"}}}, "invalid_tier", "gw.tier"),
        ({"extra_body": {"models": ["another"]}}, "unsupported_field", "models"),
    ]
    for fields, code, param in cases:
        expected = {"status_code": 400, "code": code, "param": param, "type": "validation_error"}
        raised(openai.BadRequestError, lambda: chat(**fields), **expected)


@check("BadRequestError for an Idempotency-Key that stands for another call")
def _():
    key = {"Idempotency-Key": str(uuid.uuid4())}
    chat(extra_headers=key)
    expected = {"status_code": 400, "code": "idempotency_key_reused", "param": "Idempotency-Key"}
    raised(openai.BadRequestError, lambda: chat(extra_headers=key, max_tokens=3), **expected)
    expected["code"] = "invalid_idempotency_key"
    raised(openai.BadRequestError, lambda: chat(extra_headers={"Idempotency-Key": "x" * 256}), **expected)


@check("NotFoundError for a model and a receipt that are not there")
def _():
    raised(openai.NotFoundError, lambda: client.models.retrieve("gpt-none"), code="invalid_model", param="model")
    unknown = "rcpt_01890a5d-ac96-774b-bcce-b302099a8057"
    raised(openai.NotFoundError, lambda: fetched(unknown), code="receipt_not_found", param="receipt_id")


@check("InternalServerError for a provider that fails, also after the client's retries")
def _():
    patient = client.with_options(max_retries=1)
    for fault, code in (("status-500", "upstream_error"), ("status-429", "upstream_rate_limited")):
        headers = simulated(fault=fault)
        expected = {"status_code": 502, "code": code, "type": "inference_error"}
        error = raised(openai.InternalServerError, lambda: chat(patient, extra_headers=headers), **expected)
        assert error.response.headers["x-gw-receipt-id"].startswith("rcpt_")


@check("APIError with a code for an error inside a stream")
def _():
    stream = chat(stream=True, extra_headers=simulated(fault="error-event", tokens=10))
    try:
        list(stream)
    except openai.APIError as error:
        equal((error.code, error.type), ("upstream_error", "inference_error"))
        return
    raise AssertionError("nothing was raised")

import { ok } from '@gw/contract/internal/result';
import { messageCountSchema } from '@gw/contract/messages';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { callForTests, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { describe, expect, test } from 'vitest';
import { parseRequest } from '../api/parse.ts';
import { outgoing } from '../api/provider-body.ts';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { finished } from '../wire/ext-proc.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const asked = JSON.stringify({ model: 'm', messages, tools: [{ name: 't', input_schema: {} }] });

function setUp(apis: string[], tokens?: number | null) {
  const speaks = { ...plainDeployment, calls: { apis } } as typeof plainDeployment;
  const region = { code: 'us', name: 'us', country: 'us', gridZone: 'USA', status: 'active' as const, preference: 0 };
  const catalogue = makeCatalogue({ ...emptySnapshot, models: [plainModel], regions: [region], deployments: [speaks] });
  const { context, ledger } = contextForTests({
    catalogue: () => catalogue,
    read: ({ bytes, endpoint }) => {
      const parsed = parseRequest(endpoint, bytes);
      if (!parsed.ok) return parsed;
      const { request } = parsed.value;
      return ok({ request, bodies: { outgoing: outgoing(parsed.value) }, ...(tokens !== undefined && { tokens }) });
    },
  });
  const call = callForTests(context);
  const ask = (body = asked, headers = {}) =>
    call.ask(body, {}, { ':path': '/v1/messages/count_tokens?beta=true', 'x-request-id': 'r', ...headers });
  const last = () => call.answers.at(-1);
  return { ask, call, last, ledger };
}
const errorIn = (body: unknown) => JSON.parse(String(body)) as { type: string; error: object; request_id: string };
const headersOf = (headers: readonly { header: { key: string; rawValue: Buffer } }[] = []) =>
  Object.fromEntries(headers.map(({ header: { key, rawValue } }) => [key, String(rawValue)]));

describe('a call that only counts', () => {
  test('is answered with what the gateway has counted, and makes no receipt', () => {
    const { ask, last, ledger } = setUp(['chat'], 12);
    ask();
    expect(last()).toMatchObject({ immediateResponse: { status: { code: 200 } }, ...finished });
    expect(String(last()?.immediateResponse?.body)).toBe('{"input_tokens":12}');
    expect(ledger.begun).toEqual([]);
  });

  test('takes no claim of an idempotency key and no budget, which would throw here', () => {
    const { ask, last } = setUp(['messages']);
    ask(asked, { 'idempotency-key': 'one' });
    expect(last()?.requestBody).toBeDefined();
  });

  test('goes to a provider that speaks Messages, by its own path, without a receipt', () => {
    const { ask, last, ledger } = setUp(['chat', 'messages'], null);
    ask(asked, {
      'anthropic-version': '2024-01-01',
      'anthropic-beta': 'token-counting-2024-11-01,mcp-client-2025-04-04',
    });
    const { dynamicMetadata, requestBody } = last() ?? {};
    const set = headersOf(requestBody?.response?.headerMutation?.setHeaders as never);
    expect(set).toMatchObject({
      ':path': '/v1/messages/count_tokens',
      'anthropic-version': '2024-01-01',
      'anthropic-beta': 'token-counting-2024-11-01',
    });
    expect(dynamicMetadata).toMatchObject({ gw: { degraded: '', request_id: 'r' } });
    expect(dynamicMetadata?.gw).not.toHaveProperty('receipt_id');
    expect(JSON.stringify(dynamicMetadata)).toContain('first');
    expect(ledger.begun).toEqual([]);
  });

  test('is refused with the reason where nobody can count', () => {
    const { ask, last } = setUp(['chat'], null);
    ask();
    const { error, type } = errorIn(last()?.immediateResponse?.body);
    expect(type).toBe('error');
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_model', param: 'model' });
    expect(JSON.stringify(error)).toContain('cannot be counted: none of its providers speaks the API of /v1/messages');
  });

  test('is validated as a message is, without a limit of the answer', () => {
    for (const [fields, param] of [
      [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
      [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
      [{ base_url: 'http://x' }, 'base_url'],
    ] as const) {
      const { ask, last } = setUp(['messages']);
      ask(JSON.stringify({ model: 'm', messages, ...fields }));
      expect(errorIn(last()?.immediateResponse?.body).error).toMatchObject({ param });
    }
  });
});

describe('the reply of a provider that counts', () => {
  function replied(body: string, headers: Readonly<Record<string, string>> = {}) {
    const { ask, call, last } = setUp(['messages']);
    ask();
    call.replyHeaders({ 'content-type': 'application/json', 'set-cookie': 'a=b', ...headers });
    const head = last();
    if (head?.immediateResponse === undefined) call.replyBody(body, true);
    expect(call.errors).toEqual([]);
    const { headerMutation, bodyMutation } = last()?.responseBody?.response ?? {};
    const text = String(last()?.immediateResponse?.body ?? bodyMutation?.body);
    return { head, text, set: headersOf(headerMutation?.setHeaders as never), last };
  }

  test('is its number alone', () => {
    const { head, last, text } = replied('{"input_tokens":7,"context_management":{"original_input_tokens":9},"gw":{}}');
    expect(messageCountSchema.parse(JSON.parse(text))).toEqual({ input_tokens: 7 });
    expect(head?.responseHeaders?.response?.headerMutation?.removeHeaders).toEqual(['x-gw-deployment', 'set-cookie']);
    expect(last()?.dynamicMetadata).toEqual(finished.dynamicMetadata);
  });

  test.each([
    ['no number', '{"input_tokens":"7"}', {}, 502, 'upstream_error'],
    ['less than none', '{"input_tokens":-1}', {}, 502, 'upstream_error'],
    ['no JSON', '<html>', {}, 502, 'upstream_invalid_response'],
    [
      'a refusal',
      '{"type":"error","error":{"message":"messages: too many"}}',
      { ':status': '400' },
      400,
      'invalid_messages',
    ],
    ['nothing like it', '{"detail":"Not Found"}', { ':status': '404' }, 400, 'upstream_rejected_request'],
    ['too much', '{}', { ':status': '529' }, 502, 'upstream_error'],
    ['no credential', '', { ':status': '429', 'x-gw-credential-missing': '1' }, 502, 'upstream_credential_missing'],
  ])('is an error of ours where it is %s', (_, body, headers, status, code) => {
    const { last, set, text } = replied(body, headers);
    expect(errorIn(text)).toMatchObject({ type: 'error', error: { code }, request_id: 'r' });
    expect(Number(last()?.immediateResponse?.status?.code ?? set[':status'])).toBe(status);
  });

  test('passes where it is Envoy’s own error', () => {
    const { ask, call, last } = setUp(['messages']);
    ask();
    call.envoyReplies({ ':status': '504' });
    expect(last()).toEqual({ responseHeaders: {} });
  });
});

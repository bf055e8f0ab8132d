import type { IProcessingResponse, ProcessingRequest } from '@gw/grpc/service';
import type { Candidate } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import { expect, test } from 'vitest';
import { Answers, BareCall } from './call.ts';

const at = (id: string) =>
  ({ deployment: { id, firstAttempt: { origin: 'http://127.0.0.1:1' } } }) as unknown as Candidate;
const chainOf = (model: string) => (model === 'known' ? ([at('a'), at('b')] as const) : null);

type Given = { response: IProcessingResponse; body: readonly Buffer[] | undefined };

/** Returns the answers to these messages, of calls that share what was made. */
function answersOf(answers: Answers, messages: readonly unknown[]): Given[] {
  const given: Given[] = [];
  const call = new BareCall(
    { answer: (response, body) => given.push({ response, body }), fail: (error) => expect.fail(String(error)) },
    answers,
    chainOf,
  );
  for (const message of messages) call.message(message as ProcessingRequest);
  return given;
}

const headersOf = (fields: Record<string, string>) => ({
  headers: { headers: Object.entries(fields).map(([key, value]) => ({ key, value })) },
});
const asking = (body: object) => [
  { requestHeaders: headersOf({ ':path': '/v1/chat/completions', 'x-request-id': 'r' }) },
  { requestBody: { body: Buffer.from(JSON.stringify(body)), endOfStream: true } },
];
const replying = (type: string, ...pieces: readonly string[]) => [
  { responseHeaders: headersOf({ ':status': '200', 'content-type': type }) },
  ...pieces.map((piece, at) => ({ responseBody: { body: Buffer.from(piece), endOfStream: at === pieces.length - 1 } })),
];
const textOf = (given: Given | undefined): string => Buffer.concat(given?.body ?? []).toString();

test('a JSON call goes to its provider and comes back with something of the size of a receipt, made once for all calls', () => {
  const answers = new Answers();
  const messages = [...asking({ model: 'known' }), ...replying('application/json', '{"id":"1"}')];
  const first = answersOf(answers, messages);
  const [wantsBody, toProvider, toClient, reply] = first;
  expect(wantsBody?.response.modeOverride).toEqual({ requestBodyMode: 2, responseHeaderMode: 1 });
  expect(textOf(toProvider)).toBe('{"model":"known"}');
  expect(JSON.stringify(toProvider?.response)).toContain('first:a@http://127.0.0.1:1');
  expect(JSON.stringify(toProvider?.response)).toContain('listener:b');
  expect(toProvider?.response.dynamicMetadata?.gw).toMatchObject({ 'x-ratelimit-limit-requests': '1000000' });
  expect(JSON.stringify(toClient?.response)).toContain('x-ratelimit-remaining-day');
  expect(toClient?.response.modeOverride).toMatchObject({ responseBodyMode: 2 });
  const shown = textOf(reply);
  expect(JSON.parse(shown)).toMatchObject({ id: '1', gw: { made_of: expect.any(String) } });
  expect(shown.length).toBeGreaterThan(3000);
  const length = reply?.response.responseBody?.response?.headerMutation?.setHeaders?.find(
    (each) => each.header?.key === 'content-length',
  );
  expect(String(length?.header?.rawValue)).toBe(String(shown.length));
  for (const [at, { response }] of answersOf(answers, messages).entries()) {
    expect(response).toBe(first[at]?.response);
    expect(response).toSatisfy(Object.isFrozen);
  }
});

test('a stream passes event by event, and its last bytes come behind something of the size of a receipt', () => {
  const messages = [
    ...asking({ model: 'known', stream: true }),
    ...replying(
      'text/event-stream',
      'data: {"id":"1","choices":[{}]}\n\n',
      'data: {"id":"1","choices":[{}]}\n\n',
      'data: {"id":"1","choices":[]}\n\n',
      'data: [DONE]\n\n',
    ),
  ];
  const [, toProvider, toClient, event, next, usage, end] = answersOf(new Answers(), messages);
  expect(JSON.stringify(toProvider?.response)).toContain('x-gw-stream');
  expect(toClient?.response.modeOverride).toMatchObject({ responseBodyMode: 1 });
  expect(JSON.parse(textOf(toProvider))).toEqual({
    model: 'known',
    stream: true,
    stream_options: { include_usage: true },
  });
  for (const each of [event, next]) expect(each?.response).toEqual({ responseBody: {} });
  expect(usage?.response.responseBody?.response?.bodyMutation).toEqual({ clearBody: true });
  const bytes = String(end?.response.responseBody?.response?.bodyMutation?.body);
  expect(bytes).toMatch(/^data: \{"gw":\{"made_of":"nothing[a-z]+"\}\}\n\ndata: \[DONE\]\n\n$/);
});

test('a model that nobody serves is refused, which is what a start of the gateway waits for', () => {
  const [, refused] = answersOf(new Answers(), asking({ model: 'gateway-readiness' }));
  expect(refused?.response.immediateResponse).toMatchObject({ status: { code: 400 } });
});

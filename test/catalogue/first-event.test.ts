/** The beginning and the end of a provider's reply with status 200, through the whole gateway and an official client. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { envoyBinary, replyEndModule } from '@gw/stack/binaries';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { apiOf, removeEntries } from '../operator-api.ts';
import { collect, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const [model, alone] = ['first-event/both', 'first-event/one'];
const ids = ['first-event-a', 'first-event-b'] as const;
type Answer = (response: Parameters<typeof answerChat>[0], body: Parameters<typeof answerChat>[1]) => void;
const says: Record<string, { answer: Answer; calls: number }> = {};
const well: Answer = (response, body) => answerChat(response, body, 'Sunny.');

function startProvider(id: string) {
  says[id] = { answer: well, calls: 0 };
  return createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      const own = says[id];
      if (!own) return;
      own.calls += 1;
      own.answer(response, JSON.parse(text));
    });
  });
}
const servers = ids.map(startProvider);
const operator = apiOf(stack);
const clear = () =>
  removeEntries(
    operator,
    ...ids.map((id) => `deployments/${id}`),
    `models/${model}`,
    `models/${alone}`,
    ...ids.map((id) => `providers/${id}`),
  );

const client = openAi(stack.keys.enterprise, { maxRetries: 0 });
async function ask(name: string) {
  const chunks = await collect(await client.chat.completions.create({ model: name, messages, stream: true }));
  return { chunks, text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('') };
}

beforeAll(async () => {
  await clear();
  for (const id of [model, alone])
    await operator.send('POST', '/operator/v1/models', {
      id,
      owned_by: 'tests',
      kind: 'chat',
      active_parameters_b: 8,
      total_parameters_b: 8,
    });
  for (const [index, id] of ids.entries()) {
    const server = servers[index];
    if (!server) continue;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    await operator.send('POST', '/operator/v1/providers', { id, name: id, base_url, first_byte_timeout_s: 2 });
    await operator.send('POST', '/operator/v1/deployments', {
      id,
      provider: id,
      region: index === 0 ? 'us-east' : 'eu-west',
      models: index === 0 ? { [model]: 'm', [alone]: 'm' } : { [model]: 'm' },
      pue: 1.2,
    });
  }
  const pinned = (region: string) => {
    const body = { model, messages, gw: { region } };
    return client.chat.completions.create(body);
  };
  for (const region of ['us-east', 'eu-west'])
    await eventually(`an answer in ${region}`, () => pinned(region).catch(() => null));
  await eventually(`an answer of ${alone}`, () => ask(alone).catch(() => null));
}, 60_000);
beforeEach(() => {
  for (const id of ids) says[id] = { answer: well, calls: 0 };
});
afterAll(async () => {
  await clear();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

const events =
  (...data: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(data.join(''));
  };
const limited = events(': hi\n\n', 'data: {"error":{"message":"Slow down","code":429}}\n\n', 'data: [DONE]\n\n');
const everywhere = (answer: Answer) => {
  for (const id of ids) says[id] = { answer, calls: 0 };
};
const calls = () => ids.map((id) => says[id]?.calls);

test('a stream that fails in its first event, or has none, goes on at the next deployment', async () => {
  for (const answer of [limited, events(), events(': hi\n\n'), events('data: [DONE]\n\n')]) {
    // Whichever comes first fails, and the other one answers.
    let isFirst = true;
    everywhere((response, body) => {
      const fails = isFirst;
      isFirst = false;
      return fails ? answer(response, body) : well(response, body);
    });
    const { text, chunks } = await ask(model);
    expect(text).toBe('Sunny.');
    expect(calls()).toEqual([1, 1]);
    expect(chunks.at(-1)).toMatchObject({ routing_trace: { fallback: true, attempts: { failed: [{}] } } });
    expect(receiptOf(chunks.at(-1))).toMatchObject({ status: 'complete' });
  }
});

test('a stream of completions that fails in its first event, or has none, goes on too', async () => {
  const complete = async (name: string) => {
    const chunks = await collect(await client.completions.create({ model: name, prompt: 'Weather?', stream: true }));
    return { chunks, text: chunks.map(({ choices }) => choices[0]?.text ?? '').join('') };
  };
  const chunk = { id: 'c', object: 'text_completion', created: 1, model: 'm' };
  const choice = { index: 0, text: 'Sunny.', logprobs: null, finish_reason: 'stop' };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const sunny = events(
    `data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`,
    `data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  );
  for (const answer of [limited, events(), events('data: [DONE]\n\n')]) {
    let isFirst = true;
    everywhere((response, body) => {
      const fails = isFirst;
      isFirst = false;
      return (fails ? answer : sunny)(response, body);
    });
    const { chunks, text } = await complete(model);
    expect(text).toBe('Sunny.');
    expect(calls()).toEqual([1, 1]);
    expect(receiptOf(chunks.at(-1))).toMatchObject({ status: 'complete', completion_tokens: 2 });
  }
  everywhere(limited);
  await expect(complete(alone)).rejects.toMatchObject({ status: 502, code: 'upstream_rate_limited' });
});

test('where nobody else can answer, it is an error with the status of the failure', async () => {
  everywhere(limited);
  await expect(ask(alone)).rejects.toMatchObject({ status: 502, code: 'upstream_rate_limited' });
  everywhere(events('data: {"error":{"message":"Your prompt is too long","code":"context_length_exceeded"}}\n\n'));
  await expect(ask(alone)).rejects.toMatchObject({ status: 400, code: 'prompt_too_long', param: 'messages' });
  everywhere(events());
  await expect(ask(alone)).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
});

test('a first event about the operator’s trouble goes on at the next deployment, and rests the first', async () => {
  for (const [error, outcome] of [
    [{ message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' }, 'auth_failed'],
    [{ message: 'You exceeded your current quota', code: 'insufficient_quota' }, 'quota_exhausted'],
    [{ message: 'The model `m` does not exist', code: 'model_not_found' }, 'model_missing'],
  ] as const) {
    let isFirst = true;
    everywhere((response, body) => {
      const fails = isFirst;
      isFirst = false;
      if (!fails) return well(response, body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // The connection stays open, as it does at many servers.
      response.write(`data: ${JSON.stringify({ error })}\n\n`);
    });
    const { text, chunks } = await ask(model);
    expect(text).toBe('Sunny.');
    expect(chunks.at(-1)).toMatchObject({ routing_trace: { attempts: { failed: [{ outcome }] } } });
  }
  everywhere(events('data: {"error":{"message":"No","code":"invalid_api_key"}}\n\n'));
  await expect(ask(alone)).rejects.toMatchObject({ status: 502, code: 'upstream_auth_failed' });
});

const json =
  (body: unknown): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
const asked = () => calls().reduce<number>((sum, each) => sum + (each ?? 0), 0);

/** An answer that comes behind comments, after so many ms. */
const behindComments =
  (ms: number, answer: Answer = events('data: {"error":{"message":"Slow down","code":429}}\n\n')): Answer =>
  (response, body) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const comments = setInterval(() => response.write(': PROCESSING\n\n'), 100);
    response.writeHead = () => response;
    setTimeout(() => {
      clearInterval(comments);
      answer(response, body);
    }, ms);
  };

test('a failure goes on at the next deployment, as late and as long as it may be', async () => {
  const error = { message: `Slow down. ${'You said this. '.repeat(14_000)}`, type: 'rate_limit_error' };
  const long: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: ');
    setTimeout(() => response.end(`${JSON.stringify({ error })}\n\n`), 20);
  };
  for (const answer of [behindComments(1200), long, json({ error })]) {
    let isFirst = true;
    everywhere((response, body) => {
      const fails = isFirst;
      isFirst = false;
      return (fails ? answer : well)(response, body);
    });
    const { text, chunks } = await ask(model);
    expect(text).toBe('Sunny.');
    expect(calls()).toEqual([1, 1]);
    expect(chunks.at(-1)).toMatchObject({ routing_trace: { attempts: { failed: [{ outcome: 'rate_limited' }] } } });
  }
});

test('an answer behind comments begins within the first-byte time-out, and nobody else is asked', async () => {
  const askedOf: string[] = [];
  everywhere((response, body) => {
    const [{ content } = { content: '' }] = body.messages as typeof messages;
    askedOf.push(content);
    const isLater = content === 'later' && askedOf.filter((each) => each === content).length > 1;
    const answer = content === 'later' && !isLater ? limited : behindComments(2600, well);
    answer(response, body);
  });
  // The second attempt of a call has a way of its own.
  const heads = [
    [model, 'first'],
    [model, 'later'],
    [alone, 'alone'],
  ].map(async ([name = '', content = '']) => {
    const start = performance.now();
    const chunks = await client.chat.completions.create({
      model: name,
      messages: [{ role: 'user', content }],
      stream: true,
    });
    const ms = performance.now() - start;
    const said = await collect(chunks);
    expect(said.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Sunny.');
    return ms;
  });
  for (const ms of await Promise.all(heads)) {
    expect(ms).toBeGreaterThan(1600);
    expect(ms).toBeLessThan(2550);
  }
  expect(askedOf.sort()).toEqual(['alone', 'first', 'later', 'later']);
});

test('more than can be held goes on at once', async () => {
  let goOn = () => {};
  everywhere((response, body) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let kib = 0; kib < 5 * 1024; kib += 1) response.write(`: ${'x'.repeat(1020)}\n\n`);
    response.writeHead = () => response;
    goOn = () => well(response, body);
  });
  const chunks = await client.chat.completions.create({ model: alone, messages, stream: true });
  goOn();
  expect((await collect(chunks))[0]?.choices[0]?.delta.content).toBe('Sunny.');
  expect(asked()).toBe(1);
});

test('a safety block is a refusal of the request, which nobody else is asked about, in events and in JSON', async () => {
  for (const failure of [
    { error: { message: 'No', code: 'data_inspection_failed' } },
    { error: { message: 'No', code: '1301' } },
    { error: { message: 'Blocked', type: 'guardrail_intervened', code: 500 } },
    { promptFeedback: { blockReason: 'SAFETY' } },
    { choices: null, base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } },
  ])
    for (const answer of [events(`data: ${JSON.stringify(failure)}\n\n`, 'data: [DONE]\n\n'), json(failure)]) {
      everywhere(answer);
      await expect(ask(model)).rejects.toMatchObject({ status: 400, code: 'content_filter', param: 'messages' });
      expect(asked()).toBe(1);
    }
});

test('JSON that is a failure, or no answer, goes on at the next deployment', async () => {
  for (const failure of [
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    { id: 'c', error: { message: 'Broken' } },
    [{ error: { code: 503, message: 'Broken' } }],
    { object: 'error', message: 'Broken' },
    { detail: 'Not now' },
    { id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 } },
    { id: 'c', choices: [], metadata: { weight_version: 'default' } },
  ]) {
    let isFirst = true;
    everywhere((response, body) => {
      const fails = isFirst;
      isFirst = false;
      return fails ? json(failure)(response, body) : well(response, body);
    });
    const reply = await client.chat.completions.create({ model, messages });
    expect(reply.choices[0]?.message.content).toBe('Sunny.');
    expect(calls()).toEqual([1, 1]);
    expect(reply).toMatchObject({ routing_trace: { attempts: { failed: [{ outcome: 'server_error' }] } } });
  }
});

const raw =
  (type: string, body: string, status = 200, headers = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  };
const page = '<!DOCTYPE html><html><body>Log in</body></html>';

test.each([
  ['a page', raw('text/html', page)],
  ['a page that calls itself a stream', raw('text/event-stream', page)],
  ['null', raw('application/json', 'null')],
  ['a list', raw('application/json', '[]')],
  ['a text', raw('application/json', '"Unauthorized"')],
  ['an empty page', raw('text/html', '')],
  ['an object that breaks off', raw('application/json', '{"id":"c","object":"chat')],
  ['a stream of no JSON', raw('text/event-stream', 'data: OK\n\n')],
  ['a way to a page', raw('text/html', page, 302, { location: 'https://login.test/' })],
  ['a generation that failed', raw('application/json', '{"error":"Request failed during generation"}', 424)],
])('%s goes on at the next deployment, for JSON and for streams', async (_name, broken) => {
  for (const isStream of [false, true]) {
    let isFirst = true;
    everywhere((response, body) => {
      const fails = isFirst;
      isFirst = false;
      return (fails ? broken : well)(response, body);
    });
    const last = isStream
      ? (await ask(model)).chunks.at(-1)
      : await client.chat.completions.create({ model, messages });
    expect(calls()).toEqual([1, 1]);
    expect(last).toMatchObject({ routing_trace: { attempts: { failed: [{ outcome: 'server_error' }] } } });
    expect(receiptOf(last)).toMatchObject({ status: 'complete' });
    everywhere(broken);
    await expect(client.chat.completions.create({ model: alone, messages, stream: isStream })).rejects.toMatchObject({
      status: 502,
      code: expect.stringMatching(/^upstream_(?:invalid_response|error)$/),
    });
  }
});

test('the provider’s Retry-After reaches the client, although its head says 200', async () => {
  everywhere((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'retry-after': '17' });
    response.end('data: {"error":{"message":"Slow down","code":429}}\n\n');
  });
  const refusal = await ask(alone).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ status: 502, code: 'upstream_rate_limited' });
  expect((refusal as { headers: Headers }).headers.get('retry-after')).toBe('17');
});

test('JSON for a stream becomes one', async () => {
  for (const message of [
    { role: 'assistant', content: 'Sunny.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
  ]) {
    says[ids[0]] = {
      calls: 0,
      answer: (response) => {
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
        const body = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(body);
      },
    };
    const { text, chunks } = await ask(alone);
    expect(text).toBe(message.content ?? '');
    expect(chunks[0]).toMatchObject({ object: 'chat.completion.chunk', choices: [{ delta: message }] });
    expect(receiptOf(chunks.at(-1))).toMatchObject({ prompt_tokens: 9, completion_tokens: 2 });
  }
});

const isEnded = replyEndModule(await envoyBinary(() => undefined)) !== null;
test.runIf(isEnded)('a stream ends in order behind [DONE], also if its provider leaves it open', async () => {
  const leftOpen: Answer = (response, body) => {
    response.end = (last: unknown) => {
      response.write(String(last));
      return response;
    };
    well(response, body);
  };
  let isFirst = true;
  everywhere((response, body) => {
    const fails = isFirst;
    isFirst = false;
    (fails ? limited : leftOpen)(response, body);
  });
  // The first call goes by the listener of a deployment, since its first attempt fails, and the second one directly.
  for (const name of [model, alone]) {
    const reply = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.keys.enterprise}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, messages, stream: true }),
    });
    const text = await reply.text();
    expect(text).toMatch(/"gw":.*data: \[DONE\]\n\n$/s);
    const last = text.split('\n\n').findLast((event) => event.includes('"gw":'));
    expect(receiptOf(JSON.parse(String(last).slice('data: '.length)))).toMatchObject({ status: 'complete' });
  }
  expect(asked()).toBe(3);
});

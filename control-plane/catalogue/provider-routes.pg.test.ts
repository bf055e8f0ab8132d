/** Operators ask a provider in a shell what it says about itself. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { add, as, at, errorOf, testApp, tokenOf, useTestApp } from '@gw/testing/control-plane/entries';
import { startStandInEnvoy } from '@gw/testing/control-plane/stand-in-envoy';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

useTestApp();
type Answer = (request: IncomingMessage) => { readonly status: number; readonly body: unknown };
let answer: Answer;
let server: Server;
let url: string;
let endEnvoy: () => Promise<void>;
const credential = 'sk-0123456789abcdef';
const shown: unknown[] = [];

const completion = {
  choices: [{ message: { role: 'assistant', content: 'Hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, queue_time: 0.1 },
  energy_consumption: 1,
};
const works: Answer = ({ url: path }) => {
  if (path === '/v1/models')
    return {
      status: 200,
      body: { data: [{ id: 'qwen3-30b-a3b' }, { id: 'bge-m3' }, { id: 'm1' }, { id: '@cf/odd' }, { nameless: true }] },
    };
  return { status: 200, body: path === '/v1/embeddings' ? { data: [{ embedding: [1] }] } : completion };
};
beforeAll(async () => {
  server = createServer((request, reply) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.once('end', () => {
      shown.push([request.method, request.url, request.headers.authorization, text && JSON.parse(text)]);
      const { body, status } = answer(request);
      reply.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
beforeAll(async () => {
  endEnvoy = await startStandInEnvoy(testApp().probeSocket);
});
afterAll(async () => {
  server.close();
  await endEnvoy();
});
afterEach(async () => {
  shown.length = 0;
  answer = works;
  await testApp().context.db.providerCredential.deleteMany();
  await testApp().context.db.model.deleteMany({ where: { ownedBy: 'acme' } });
});

async function gw(...args: string[]) {
  let out = '';
  let told = '';
  const openApi = () => openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('admin') });
  const print = (text: string) => {
    out += text;
  };
  const tell = (text: string) => {
    told += text;
  };
  const code = await runAdmin(args, { openApi, print, tell });
  return { code, out, told };
}
async function addAcme(): Promise<void> {
  answer = works;
  await add('providers', { base_url: url, credential_ref: 'ACME' });
  await add('models');
  await add('regions');
  await add('deployments');
  await as('admin')('PUT', '/operator/v1/credentials/ACME', { value: credential });
}

test('one call with its credential, by a model that it serves, and which fields came back', async () => {
  await addAcme();
  const { code, out } = await gw('providers', 'test', 'acme', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    object: 'provider_test',
    provider: 'acme',
    model: 'm1',
    asked: `POST ${url}/chat/completions`,
    works: true,
    message: 'It answers as it should.',
    status: 200,
    duration_ms: expect.any(Number),
    fields: ['usage.prompt_tokens', 'usage.completion_tokens', 'usage.queue_time', 'energy_consumption'],
    hidden_reasoning: null,
    reads_by_itself: null,
    refused_fields: [],
    usage_in_json: 'usage',
    usage_in_stream: null,
    apis: { chat: 'spoken', completions: 'absent', embeddings: 'unclear', responses: 'absent', messages: 'absent' },
    proposed_apis: ['chat', 'embeddings'],
    advice: ['./gw admin providers set acme --apis chat,embeddings'],
  });
  const call = (more: object) => [
    ...['POST', '/v1/chat/completions', `Bearer ${credential}`],
    expect.objectContaining({ model: 'm1', max_tokens: 16, ...more }),
  ];
  expect(shown.slice(0, 3)).toEqual([call({}), call({ temperature: 1 }), call({ stream: true })]);
  expect(JSON.parse((await gw('providers', 'test', 'acme', '--model', 'bge-m3', '--json')).out)).toMatchObject({
    asked: `POST ${url}/embeddings`,
    works: true,
  });
});

const only = (path: string, body: object): Answer =>
  function say({ url: asked }) {
    return asked === path ? { status: 200, body } : { status: 404, body: `no ${credential}` };
  };
const speakers: readonly [string, Answer][] = [
  ['chat', only('/v1/chat/completions', completion)],
  ['completions', only('/v1/completions', { choices: [{ text: 'Hi' }] })],
  ['responses', only('/v1/responses', { object: 'response', output: [] })],
  ['messages', only('/v1/messages', { type: 'message', content: [] })],
];

test('which APIs a provider speaks is found out by small calls, and entered if asked for', async () => {
  await addAcme();
  for (const [api, says] of speakers) {
    await as('admin')('PATCH', at('providers', 'acme'), { apis: ['chat', 'completions', 'embeddings'] });
    shown.length = 0;
    answer = says;
    const { code, out, told } = await gw('providers', 'test', 'acme', '--set-apis', 'yes', '--json');
    const { apis, message, proposed_apis: proposed } = JSON.parse(out);
    const spoken = Object.keys(apis).filter((name) => apis[name] === 'spoken');
    // No model of it makes embeddings, so nobody knows.
    expect([code, spoken, proposed.toSorted()]).toEqual([0, [api], [api, 'embeddings'].toSorted()]);
    expect(message).toContain(api === 'chat' ? 'It answers as it should.' : `as it should by ${api}.`);
    expect(out + told).not.toContain(credential);
    for (const [, , , body] of shown as [string, string, string, Record<string, unknown>][]) {
      expect(JSON.stringify(body).length).toBeLessThan(150);
      expect(body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens).toBe(16);
    }
    const entry = await as('viewer')('GET', at('providers', 'acme'));
    expect(entry.json().apis).toEqual(proposed);
  }
});

test('what it refuses for another reason, or what nobody could ask, is unclear, and its entry stays as it is', async () => {
  await addAcme();
  answer = (request) =>
    request.url === '/v1/chat/completions'
      ? works(request)
      : { status: request.url === '/v1/messages' ? 404 : 400, body: 'no such model' };
  const { out } = await gw('providers', 'test', 'acme', '--json');
  expect(JSON.parse(out)).toMatchObject({
    works: true,
    apis: { chat: 'spoken', completions: 'unclear', embeddings: 'unclear', responses: 'unclear', messages: 'unclear' },
    proposed_apis: null,
    advice: [],
  });
});

test.each<[string, Answer, string, number | null]>([
  [
    'refuses the credential',
    () => ({ status: 401, body: `no ${credential}` }),
    'It refuses the credential ACME (401).',
    401,
  ],
  ['has no such model', () => ({ status: 404, body: '' }), 'for example /v1?', 404],
  ['sends elsewhere', () => ({ status: 307, body: '' }), 'redirects are not followed', 307],
  ['answers a page', () => ({ status: 200, body: `<html>${credential}` }), 'not in the shape of the OpenAI API', 200],
  ['fails', () => ({ status: 503, body: credential }), 'It answers 503.', 503],
])('one that %s: the reason, exit code 1, and nothing of what it said', async (_, says, message, status) => {
  await addAcme();
  answer = says;
  const { code, out } = await gw('providers', 'test', 'acme', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    works: false,
    message: expect.stringContaining(message),
    status,
    fields: [],
  });
  expect(out).not.toContain(credential);
});

test('one that Envoy cannot reach, or is never asked: why', async () => {
  await addAcme();
  const tested = async () => JSON.parse((await gw('providers', 'test', 'acme', '--json')).out).message;
  await as('admin')('PATCH', at('providers', 'acme'), { base_url: 'http://127.0.0.1:1/v1', credential_ref: null });
  expect(await tested()).toBe(
    'It could not be reached: nothing is listening at its address (Envoy says UF: delayed connect error: Connection refused).',
  );
  await testApp().context.db.provider.update({
    where: { id: 'acme' },
    data: { baseUrl: 'http://169.254.169.254/v1' },
  });
  expect(await tested()).toContain('its address is not allowed');
  expect(shown).toEqual([]);
});

test('which fields of the gateway it refuses, where its usage stands, and how to enter that in the catalogue', async () => {
  await addAcme();
  await as('admin')('PATCH', at('providers', 'acme'), { request_fields: { seed: null } });
  answer = (request) => {
    const body = (shown.at(-1) as unknown[])[3] as Record<string, unknown>;
    if ('temperature' in body || 'stream_options' in body) return { status: 422, body: credential };
    const usage = { prompt_tokens: 3, completion_tokens: 1 };
    const chunk = { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] };
    return 'stream' in body
      ? { status: 200, body: `: hello\n\ndata: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` }
      : works(request);
  };
  const { code, out } = await gw('providers', 'test', 'acme', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    refused_fields: ['temperature', 'stream_options'],
    usage_in_json: 'usage',
    usage_in_stream: 'choices[].usage',
    advice: [
      './gw admin models set acme/m-1 --takes-temperature no',
      './gw admin providers set acme --request-fields seed=,stream_options=',
      './gw admin providers set acme --apis chat,embeddings',
    ],
  });
  expect(out).not.toContain(credential);
});

test('that its model counts what nobody sees, and how to enter that in the catalogue', async () => {
  await addAcme();
  const unseen = {
    choices: [{ message: { role: 'assistant', content: null } }],
    usage: { prompt_tokens: 6000, completion_tokens: 16 },
  };
  answer = () => ({ status: 200, body: unseen });
  const { code, out } = await gw('providers', 'test', 'acme', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    works: true,
    hidden_reasoning: true,
    reads_by_itself: true,
    message: expect.stringContaining('./gw admin models set acme/m-1 --hidden-reasoning yes --reads-by-itself yes'),
  });
});

test('without its credential it is not asked, and the reply says how to set it', async () => {
  await addAcme();
  await as('admin')('PATCH', at('providers', 'acme'), { credential_ref: 'OTHER' });
  const { out } = await gw('providers', 'test', 'acme');
  expect(out).toMatch(/works +false/);
  expect(out).toContain('./gw admin credentials set OTHER');
  expect(shown).toEqual([]);
});

test('its models are read and printed as they stand in gw.yaml, each guess told; or all are offered at once', async () => {
  await addAcme();
  const printed = await gw('providers', 'import', 'acme');
  expect(printed.out).toBe(
    [
      'models:',
      '  # it makes embeddings, with 0.568 billion parameters; https://huggingface.co/BAAI/bge-m3',
      '  - id: bge-m3',
      '    owned_by: acme',
      '    kind: embedding',
      '    total_parameters_b: 0.568',
      '    active_parameters_b: 0.568',
      '    parameters_source: https://huggingface.co/BAAI/bge-m3',
      '  # by its name: it chats, with 30 billion parameters (3 serve a token)',
      '  - id: qwen3-30b-a3b',
      '    owned_by: acme',
      '    kind: chat',
      '    total_parameters_b: 30',
      '    active_parameters_b: 3',
      '    parameters_source: "guessed by its name: it chats, with 30 billion parameters (3 serve a token)"',
      '# In a deployment:',
      '#     models:',
      '#       bge-m3: bge-m3',
      '#       qwen3-30b-a3b: qwen3-30b-a3b',
      '',
    ].join('\n'),
  );
  expect((await as('viewer')('GET', at('models', 'bge-m3'))).statusCode).toBe(404);
  await gw('providers', 'import', 'acme', '--deployment', 'acme-pl');
  expect((await as('viewer')('GET', at('models', 'qwen3-30b-a3b'))).json()).toMatchObject({
    total_parameters_b: { min: 30, max: 30 },
    active_parameters_b: { min: 3, max: 3 },
    parameters_source: expect.stringMatching(/^guessed /),
  });
  expect((await as('viewer')('GET', at('deployments', 'acme-pl'))).json().models).toEqual({
    'acme/m-1': 'm1',
    'bge-m3': 'bge-m3',
    'qwen3-30b-a3b': 'qwen3-30b-a3b',
  });
  const left = 'Left out, since they cannot be ids: "@cf/odd". Offer them under another: --model id=name.\n';
  const all = { out: 'All models of acme are offered already.\n', told: left };
  expect(await gw('providers', 'import', 'acme')).toMatchObject(all);
  expect((await gw('providers', 'import', 'acme', '--deployment', 'acme-pl')).out).toBe(
    'acme-pl offers all of them already.\n',
  );
  const [other] = (await as('viewer')('GET', at('deployments')))
    .json()
    .data.filter((each: { id: string }) => each.id !== 'acme-pl');
  await expect(gw('providers', 'import', 'acme', '--deployment', other.id)).rejects.toThrow(
    'is one of simulator, not of acme',
  );
});

test('a model whose size nobody knows is imported as of unknown size, and needs a look', async () => {
  await addAcme();
  answer = (request) =>
    request.url === '/v1/models' ? { status: 200, body: { data: [{ id: 'own-chat' }] } } : works(request);
  const because = 'by its name: it chats; its size is unknown, so the bounds of its receipts hold models of any size';
  expect((await gw('providers', 'import', 'acme')).out).toBe(
    [
      'models:',
      `  # ${because}`,
      '  - id: own-chat',
      '    owned_by: acme',
      '    kind: chat',
      '    model_class: unknown',
      '# In a deployment:',
      '#     models:',
      '#       own-chat: own-chat',
      '',
    ].join('\n'),
  );
  const { out, told } = await gw('providers', 'import', 'acme', '--deployment', 'acme-pl');
  expect(out).toBe(`own-chat: ${because}\n`);
  expect(told).toContain('Sizes that are guessed or unknown are set by ./gw admin models set.');
  expect((await as('viewer')('GET', at('models', 'own-chat'))).json()).toMatchObject({
    model_class: 'unknown',
    parameters_source: null,
    warnings: [expect.stringContaining('./gw admin models set own-chat --total <billions>')],
  });
});

test('a provider that does not answer as it should is told as that, and nobody but admins asks', async () => {
  await addAcme();
  answer = () => ({ status: 401, body: credential });
  const path = '/operator/v1/providers/acme';
  const reply = await as('admin')('GET', `${path}/models`);
  expect(errorOf(reply)).toEqual([502, 'provider_unavailable', null]);
  expect(reply.body).not.toContain(credential);
  expect((await as('viewer')('GET', `${path}/models`)).statusCode).toBe(403);
  expect((await as('support')('POST', `${path}/test`)).statusCode).toBe(403);
  expect(errorOf(await as('admin')('POST', '/operator/v1/providers/nobody/test'))).toEqual([
    404,
    'invalid_provider',
    null,
  ]);
});

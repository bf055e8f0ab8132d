/**
 * The two statuses of a region that are also measured, by real trouble: a provider that cannot be reached, and one that says that it
 * has too much to do. A pinned call gets the code of its region, a free one goes elsewhere, and `GET /v1/regions` says why.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { answerChat } from '../chat-reply.ts';
import { apiOf, removeEntries } from '../operator-api.ts';
import { eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const model = 'measured/m';
const regions = ['measured-a', 'measured-b'] as const;
// Calls that steer the simulated provider tell nothing of how deployments are.
const client = openAi(stack.keys.enterprise, { defaultHeaders: {} });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more });

let fault: { status: number; headers?: Record<string, string> } | null = null;
const providers = regions.map((region) =>
  createServer((request, response) => {
    request.resume().on('end', () => {
      if (region !== 'measured-a' || fault === null) return answerChat(response, { model }, 'Sunny.');
      const headers = { 'content-type': 'application/json', ...fault.headers };
      response.writeHead(fault.status, headers).end('{"error":{"message":"broken"}}');
    });
  }),
);

async function originOf(server: Server | undefined): Promise<string> {
  if (!server) throw new Error('There are as many providers as regions.');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const operator = apiOf(stack);
const each = (kind: string) => regions.map((region) => `${kind}/${region}`);
const clear = () =>
  removeEntries(operator, ...each('deployments'), `models/${model}`, ...each('regions'), ...each('providers'));

beforeAll(async () => {
  await clear();
  await operator.send('POST', '/operator/v1/models', {
    id: model,
    owned_by: 'test',
    kind: 'chat',
    model_class: 'small',
  });
  for (const [preference, region] of regions.entries()) {
    const base_url = await originOf(providers[preference]);
    await operator.send('POST', '/operator/v1/providers', { id: region, name: region, base_url });
    const place = { name: region, country: 'FR', grid_zone: 'FRA', preference };
    await operator.send('POST', '/operator/v1/regions', { code: region, ...place });
    await operator.send('POST', '/operator/v1/deployments', {
      id: region,
      provider: region,
      region,
      pue: 1.1,
      models: { [model]: 'm' },
    });
  }
  await eventually('both to answer', async () => {
    const tried = await Promise.allSettled(regions.map((region) => chat({ gw: { region } })));
    return tried.every(({ status }) => status === 'fulfilled') || null;
  });
});
afterAll(async () => {
  await clear();
  for (const server of providers) {
    server.closeAllConnections();
    server.close();
  }
});

const regionSchema = z.looseObject({ status: z.string(), status_reason: z.string().nullable() });
async function shown() {
  const headers = { authorization: `Bearer ${stack.keys.enterprise}` };
  const response = await fetch(`${stack.publicUrl}/v1/regions/measured-a`, { headers });
  const { status, status_reason } = regionSchema.parse(await response.json());
  return { status, status_reason };
}

/** The official SDK tells the error as a client gets it. */
const pinned = () => chat({ gw: { region: 'measured-a' } }).catch((error: unknown) => error);

test.each([
  {
    fault: { status: 429, headers: { 'retry-after': '2' } },
    status: 'saturated',
    reason: /^Measured: a provider there reports overload, for \d+ calls in a row, the last at 20/,
    retry: null,
  },
  {
    fault: { status: 503 },
    status: 'degraded',
    reason:
      /^Measured: a provider there cannot be reached or answers 502 to 504, for \d+ calls in a row, the last at 20/,
    retry: 'false',
  },
])(
  'a region whose provider answers $fault.status is $status, until it answers again',
  async ({ reason, ...trouble }) => {
    expect(await shown()).toEqual({ status: 'active', status_reason: null });
    fault = trouble.fault;
    try {
      await eventually(`the region to be ${trouble.status}`, async () => {
        expect(receiptOf(await chat())).toMatchObject({ region: 'measured-b' });
        const { status, status_reason } = await shown();
        if (status === 'active') return null;
        expect({ status, status_reason }).toEqual({
          status: trouble.status,
          status_reason: expect.stringMatching(reason),
        });
        return true;
      });
      const error = z
        .looseObject({ status: z.number(), code: z.string(), param: z.string(), headers: z.instanceof(Headers) })
        .parse(await pinned());
      expect(error).toMatchObject({ status: 503, code: `region_${trouble.status}`, param: 'gw.region' });
      expect(error.headers.get('x-should-retry')).toBe(trouble.retry);
    } finally {
      fault = null;
    }
    await eventually('free calls to begin there again', async () => {
      return receiptOf(await chat()).region === 'measured-a' || null;
    });
    expect(await shown()).toEqual({ status: 'active', status_reason: null });
    expect(receiptOf(await chat({ gw: { region: 'measured-a' } }))).toMatchObject({ region: 'measured-a' });
  },
);

test('what pinned calls of one account find is said to that account alone', async () => {
  const other = openAi(stack.keys.auditPlus, { defaultHeaders: {} });
  const codeOf = (by = client) =>
    by.chat.completions.create({ model, messages, gw: { region: 'measured-a' } } as never).then(
      () => 'answered',
      (error: { code?: string }) => error.code,
    );
  fault = { status: 429 };
  try {
    for (let call = 0; call < 3; call += 1) expect(await codeOf()).toBe('upstream_rate_limited');
    expect(await codeOf()).toBe('region_saturated');
    expect(await codeOf(other)).toBe('upstream_rate_limited');
    expect(await shown()).toEqual({ status: 'active', status_reason: null });
  } finally {
    fault = null;
  }
  await eventually('its calls to be taken again', async () => ((await codeOf()) === 'answered' ? true : null));
});

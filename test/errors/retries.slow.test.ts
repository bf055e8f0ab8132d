/**
 * The official SDKs, told to retry three times, do by themselves what the specification asks of clients: against the
 * gateway where that is quick, and against a stand-in with the replies of the gateway for each code of the catalogue.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CatalogueCode, errorCatalogue } from '@gw/contract/error-catalogue';
import { apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { exampleAddresses } from '@gw/contract/internals/example-addresses';
import { inCheckout } from '@gw/stack/checkout';
import { awayFromMidnight } from '@gw/testing/one-day';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Reply } from '../input/ask.ts';
import { eventually, messages, openAi, stack } from '../sdk/gateway.ts';
import { pythonWithClient } from '../sdk/python-client.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { ways } from './ways.ts';

const accounts = accountsForFile();

type Where = Readonly<Record<string, { readonly base_url: string; readonly api_key: string }>>;

/** `200`, or the code of the error, for each name. */
async function python(where: Where): Promise<Record<string, string>> {
  const program = await pythonWithClient((line) => process.stderr.write(`${line}\n`));
  const child = spawn(program, ['-B', inCheckout('test', 'errors', 'python', 'retries.py')], {
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(where));
  let output = '';
  for await (const bytes of child.stdout) output += String(bytes);
  return z.record(z.string(), z.string()).parse(JSON.parse(output));
}

/** The same by the client for Node. */
async function node(where: Where): Promise<Record<string, string>> {
  const outcomes = Object.entries(where).map(async ([name, { base_url: baseURL, api_key: apiKey }]) => {
    const client = openAi(apiKey, { baseURL, maxRetries: 3 });
    const code = await client.chat.completions.create({ model: 'sim-small', messages }).then(
      () => '200',
      (error) => String(error.code),
    );
    return [name, code] as const;
  });
  return Object.fromEntries(await Promise.all(outcomes));
}
const clients = { node, python };

describe.each(['node', 'python'] as const)('%s, against the gateway', (name) => {
  const gateway = (key: string) => ({ base_url: `${stack.publicUrl}/v1`, api_key: key });
  /** Status of each request of the key, by Envoy's own log. */
  const logged = (key: string): number[] =>
    readFileSync(join(stack.logs, 'access.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(key.slice(3, 15)))
      .map((line) => z.object({ status: z.number() }).parse(JSON.parse(line)).status);
  const untilLogged = (key: string, requests: number) =>
    eventually('the access log', async () => (logged(key).length >= requests ? true : null));

  test('gets through a refusal of the rate', async () => {
    const key = await accounts.create({ perS: 1 });
    // Three, so that one is refused even where they do not set out at the same moment.
    const three = { first: gateway(key), second: gateway(key), third: gateway(key) };
    expect(await clients[name](three)).toEqual({ first: '200', second: '200', third: '200' });
    // Envoy writes its log in portions: the refusals may be there before the last answer is.
    const answered = () => logged(key).filter((status) => status === 200).length;
    await eventually('the access log', async () => (answered() >= 3 ? true : null));
    expect(answered()).toBe(3);
    expect(logged(key)).toContain(429);
  });

  test('does not hammer a spent day budget', async () => {
    const key = await accounts.create({ perDay: 1 });
    expect(await clients[name]({ one: gateway(key) })).toEqual({ one: '200' });
    expect(await clients[name]({ one: gateway(key) })).toEqual({ one: 'daily_budget_exceeded' });
    await untilLogged(key, 2);
    expect(logged(key)).toEqual([200, 429]);
  });
});

const spent: readonly CatalogueCode[] = [
  'daily_budget_exceeded',
  ...(['carbon_budget_exceeded', 'energy_budget_exceeded', 'token_budget_exceeded', 'cost_budget_exceeded'] as const),
];

describe('with the replies of the gateway', () => {
  const codes = Object.keys(errorCatalogue) as CatalogueCode[];
  const replies = new Map<string, Pick<Reply, 'status' | 'headers' | 'text'>>();
  let standIn: StandIn;
  const outcomes: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    await awayFromMidnight();
    for (const code of codes) replies.set(code, await replyOf(code));
    standIn = await startStandIn(replies);
    await Promise.all(
      (['node', 'python'] as const).map(async (name) => {
        const at = codes.map((code) => [code, { base_url: standIn.baseUrl(name, code), api_key: 'any' }]);
        outcomes[name] = await clients[name](Object.fromEntries(at));
      }),
    );
  }, 300_000);
  afterAll(() => standIn?.close());

  describe.each(['node', 'python'] as const)('%s', (name) => {
    test.each(codes)('%s', (code) => {
      expect(outcomes[name]?.[code]).toBe(code);
      const { retry } = errorCatalogue[code];
      const waitS = Number(replies.get(code)?.headers['retry-after'] ?? 0);
      // The day and the month have more seconds left than anybody waits.
      expect(waitS > 60).toBe(spent.includes(code));
      expect(standIn.attempts(name, code)).toBe(retry === 'never' || waitS > 60 ? 1 : 4);
    });
  });
});

/** The gateway's answers; for failures of its parts, those of the catalogue, which `failing-parts.test.ts` compares. */
async function replyOf(code: CatalogueCode): Promise<Pick<Reply, 'status' | 'headers' | 'text'>> {
  const way = ways[code];
  if (typeof way === 'function') return (await way(accounts)).reply;
  const error = apiError(code);
  return {
    status: error.status,
    headers: Object.fromEntries(errorHeaders(error)),
    text: errorBody(error, exampleAddresses),
  };
}

/**
 * Every end of a call, JSON and stream, for clients of HTTP/1.1 and HTTP/2: each call that reached a provider leaves exactly one
 * receipt, which says which end it was; any other leaves none.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Prisma } from '@gw/prisma/client';
import type { PartName } from '@gw/stack/stack-plans';
import { isLongRun } from '@gw/testing/cases';
import { firstVersions } from '@gw/testing/control-plane/calls';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';
import { gateway } from './broken-gateway.ts';
import { type OpenCall, openCall, type Version, versions } from './ends-client.ts';
import { eventually } from './own-gateway.ts';

const kinds = ['JSON', 'stream'] as const;
type Kind = (typeof kinds)[number];

/** Where in its call the end comes. */
type Point =
  | 'half of the body is sent'
  | 'the provider is asked'
  | 'first event'
  | 'in the middle'
  | 'text is over'
  | 'end';

/** States that nobody can see from outside: the call is admitted; the sidecar holds the chunk that ends the stream. */
const isUnseen = new Set<Point>(['half of the body is sent', 'text is over']);

interface Told {
  /** The status that the client gets; null: no headers. */
  readonly status: number | null;
  readonly over: 'whole' | 'broken';
  /** The fields of the receipt; null: there is none, because no provider was asked. */
  readonly receipt: object | null;
}

interface End {
  readonly kinds?: readonly Kind[];
  readonly sim?: Readonly<Record<string, string>>;
  /** Absent: the call runs to its own end. */
  readonly at?: Point;
  /** Who goes then; default: the client. */
  readonly who?: PartName;
  /** Which part is away from the beginning. */
  readonly away?: PartName;
  readonly told: Told | Readonly<Record<Kind, Told>>;
  /** services-suite.ts has the same end; `./gw test` leaves it at that. */
  readonly isElsewhere?: true;
}

/** The second half comes when somebody has gone, if at all. */
const wordy = { 'x-sim-tokens': '60', 'x-sim-tokens-per-second': '20', 'x-sim-hold': 'middle' };
const silent = { 'x-sim-delay-ms': '60000' };
/** Until somebody has gone. */
const busy = { 'x-sim-hold': 'start', 'x-sim-tokens-per-second': '0' };
const fault = (name: string) => ({ 'x-sim-fault': name, 'x-sim-tokens': '20', 'x-sim-tokens-per-second': '0' });

const notAsked = (status: number | null, over: Told['over'] = 'whole'): Told => ({ status, over, receipt: null });
const complete: Told = {
  status: 200,
  over: 'whole',
  receipt: { status: 'complete', tier: 'parametric', usage_source: 'provider' },
};
const unattended: Told = {
  status: 200,
  over: 'whole',
  receipt: { status: 'complete', tier: 'degraded', degraded_reason: 'sidecar_unavailable', usage_source: null },
};
const unmeasured = (status: 'client_aborted' | 'upstream_error') => ({
  status,
  tier: 'degraded',
  degraded_reason: `${status}_unmeasured`,
  usage_source: null,
  completion_tokens: null,
  energy_wh: null,
});
const failed = (status: number, over: Told['over'] = 'whole'): Told => ({
  status,
  over,
  receipt: unmeasured('upstream_error'),
});
const left: Told = { status: null, over: 'broken', receipt: unmeasured('client_aborted') };
/** The text that came is counted, and more may have been generated. */
const counted = (status: 'client_aborted' | 'upstream_error', more = true) => ({
  status,
  tier: 'parametric',
  usage_source: 'estimated',
  energy_wh: expect.any(Number),
  boundary_excludes: more
    ? expect.arrayContaining(['undelivered_output'])
    : expect.not.arrayContaining(['undelivered_output']),
});
const leftInStream: Told = { status: 200, over: 'broken', receipt: counted('client_aborted') };

const ends: Readonly<Record<string, End>> = {
  'in order': { told: complete },
  'in order, without [DONE]': { kinds: ['stream'], sim: fault('no-done'), told: complete },

  'the client leaves while it sends': { at: 'half of the body is sent', told: notAsked(null, 'broken') },
  'the client leaves while the provider thinks': { at: 'the provider is asked', sim: silent, told: left },
  'the client leaves at the first event': { kinds: ['stream'], at: 'first event', sim: wordy, told: leftInStream },
  'the client leaves in the middle': { kinds: ['stream'], at: 'in the middle', sim: wordy, told: leftInStream },
  'the client leaves behind the last word': {
    kinds: ['stream'],
    at: 'text is over',
    sim: { ...fault('stall-end'), 'x-sim-tokens-per-second': '20' },
    told: { status: 200, over: 'broken', receipt: counted('client_aborted', false) },
  },
  'the client leaves right behind the end': { at: 'end', told: { ...complete, over: 'whole' } },

  'the provider answers 500': { sim: fault('status-500'), told: failed(502) },
  'the provider answers 503': { sim: fault('status-503'), told: failed(502) },
  'the provider answers 429': { sim: fault('status-429'), told: failed(502) },
  'the provider answers 400': { sim: fault('status-400'), told: failed(400) },
  'the provider answers 401': { sim: fault('status-401'), told: failed(502) },
  'the provider breaks off before its headers': { sim: fault('reset'), told: failed(502) },
  'the provider answers with a page': { sim: fault('html'), told: failed(502) },
  'the provider answers with nothing': { sim: fault('empty'), told: failed(502) },
  'the provider breaks off in its reply': {
    sim: { ...fault('cut'), 'x-sim-tokens-per-second': '40' },
    told: { JSON: failed(502), stream: { status: 200, over: 'broken', receipt: counted('upstream_error') } },
  },
  'the provider says what nobody can read': {
    sim: fault('malformed'),
    told: { JSON: failed(502), stream: { status: 200, over: 'whole', receipt: counted('upstream_error') } },
  },
  'the provider reports an error in its stream': {
    kinds: ['stream'],
    sim: fault('error-event'),
    told: { status: 200, over: 'whole', receipt: counted('upstream_error') },
  },
  'the provider dies while it thinks': {
    isElsewhere: true,
    at: 'the provider is asked',
    who: 'simulator',
    sim: silent,
    told: failed(502),
  },
  'the provider dies in the middle': {
    kinds: ['stream'],
    at: 'in the middle',
    who: 'simulator',
    sim: wordy,
    told: { status: 200, over: 'broken', receipt: counted('upstream_error') },
  },
  'the provider is away': { isElsewhere: true, away: 'simulator', told: failed(502) },

  'ext-authz is away': { isElsewhere: true, away: 'ext-authz', told: notAsked(503) },
  'ext-authz dies while the provider thinks': {
    isElsewhere: true,
    at: 'the provider is asked',
    who: 'ext-authz',
    sim: busy,
    told: complete,
  },
  'the sidecar is away': { isElsewhere: true, away: 'receipt-sidecar', told: notAsked(503) },
  'the sidecar dies while the provider thinks': {
    isElsewhere: true,
    at: 'the provider is asked',
    who: 'receipt-sidecar',
    sim: busy,
    told: unattended,
  },
  'the sidecar dies in the middle': {
    kinds: ['stream'],
    at: 'in the middle',
    who: 'receipt-sidecar',
    sim: wordy,
    told: unattended,
  },
  'Envoy dies while the provider thinks': {
    isElsewhere: true,
    at: 'the provider is asked',
    who: 'envoy',
    sim: silent,
    told: left,
  },
  'Envoy dies in the middle': { kinds: ['stream'], at: 'in the middle', who: 'envoy', sim: wordy, told: leftInStream },
};

interface Begun {
  readonly name: string;
  readonly kind: Kind;
  readonly key: string;
  readonly accountId: string;
  readonly marker: string;
  readonly call: OpenCall;
}

describe('every end of a call', () => {
  let accounts: TestAccounts;
  beforeAll(() => {
    accounts = openTestAccounts({ databaseUrl: gateway.stack.databaseUrl, dir: gateway.dir });
  });
  afterAll(() => accounts.close());
  /** How many receipts each account ends up with. */
  const expected = new Map<string, number>();

  async function begin(kind: Kind, version: Version, sim: End['sim'] = {}): Promise<Begun> {
    const key = await accounts.create();
    const marker = randomUUID();
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-sim-tokens-per-second': '0',
      'x-sim-marker': marker,
      ...sim,
    };
    const messages = [{ role: 'user', content: 'What keeps a gateway standing?' }];
    const body = JSON.stringify({ model: 'sim-small', messages, stream: kind === 'stream' });
    const url = `${gateway.stack.publicUrl}/v1/chat/completions`;
    const call = await openCall(version, { url, headers, body });
    const accountId = `acct_test_${key.split('_')[1]}`;
    return { name: `${kind}, ${version}`, kind, key, accountId, marker, call };
  }

  const countSchema = z.object({ count: z.number(), open: z.number() });
  const atProvider = async (marker: string) =>
    countSchema.parse(await (await fetch(`${gateway.stack.simulatorUrl}/sim/count?marker=${marker}`)).json());

  const hasReached: Readonly<Record<Point, (begun: Begun) => Promise<boolean> | boolean>> = {
    'half of the body is sent': () => true,
    'the provider is asked': async ({ marker }) => (await atProvider(marker)).count > 0,
    'first event': ({ call }) => call.text.includes('\n\n'),
    'in the middle': ({ call }) => call.text.split('\n\n').length > 8,
    'text is over': ({ call }) => call.text.split('"content":"').length > 20,
    end: ({ call }) => call.text.includes('data: [DONE]') || /"gw":\{.*\}\s*$/.test(call.text),
  };

  async function reach(begun: Begun, at: Point): Promise<void> {
    if (at !== 'half of the body is sent') begun.call.finishBody();
    for (const deadline = Date.now() + 20_000; !(await hasReached[at](begun)); await delay(5))
      if (Date.now() > deadline) throw new Error(`${begun.name}: not "${at}": ${begun.call.status} ${begun.call.text}`);
  }

  const rowsOf = (accountId: string) => firstVersions(gateway.db, Prisma.sql`r.account_id = ${accountId}`);

  async function expectTold({ accountId, call, key, kind, marker, name }: Begun, told: Told, isCounted: boolean) {
    const { receipt } = told;
    expect({ name, status: call.status, over: await call.over }).toEqual({
      name,
      status: told.status,
      over: told.over,
    });
    expected.set(accountId, receipt === null ? 0 : 1);
    if (receipt === null) {
      expect(call.receiptId, name).toBeNull();
      if (isCounted) expect(await atProvider(marker), name).toEqual({ count: 0, open: 0 });
      return;
    }
    await eventually(`the receipt (${name})`, async () => (await rowsOf(accountId)).length > 0, 75_000);
    const [row, ...others] = await rowsOf(accountId);
    expect(others, name).toEqual([]);
    expect(row?.body, name).toMatchObject(receipt);
    if (call.receiptId !== null) expect(row?.id, name).toBe(call.receiptId);
    if (told.over === 'whole' && told.status === 200) expectShown(call.text, kind, row?.body);
    // The provider does not go on for nobody.
    if (isCounted) {
      await eventually(`the end at the provider (${name})`, async () => (await atProvider(marker)).open === 0);
      expect((await atProvider(marker)).count, name).toBeGreaterThan(0);
    }
    const usage = await fetch(`${gateway.stack.publicUrl}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = z.object({ data: z.array(z.object({ requests: z.number() })) }).parse(await usage.json());
    expect(
      data.reduce((sum, { requests }) => sum + requests, 0),
      name,
    ).toBe(1);
  }

  /** The day's budget counts the call, and the one that asks here. */
  async function expectAdmittedOnce({ key, name }: Begun): Promise<void> {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await fetch(`${gateway.stack.publicUrl}/v1/models`, { headers });
    const [limit, remaining] = ['limit', 'remaining'].map((of) => Number(reply.headers.get(`x-ratelimit-${of}-day`)));
    expect(limit === undefined || remaining === undefined ? null : limit - remaining, name).toBe(2);
  }

  /** The ledger has the receipt that the client saw, if it saw one. */
  function expectShown(text: string, kind: Kind, stored: unknown): void {
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
    const objects = kind === 'JSON' ? [text] : events.map((event) => event.slice('data: '.length));
    const shown = objects.flatMap((each) => z.object({ gw: z.unknown().optional() }).parse(JSON.parse(each)).gw ?? []);
    if (!text.includes('"error"')) expect(shown).toHaveLength(1);
    for (const receipt of shown) expect(receiptInReply.parse(receipt)).toEqual(stored);
  }

  const tested = Object.entries(ends).filter(([, { isElsewhere = false }]) => isLongRun || !isElsewhere);
  test.each(tested)('%s', async (_, { at, away, kinds: of = kinds, sim, told, who }) => {
    if (away) await gateway.killForGood(away);
    const begun = await Promise.all(of.flatMap((kind) => versions.map((version) => begin(kind, version, sim))));
    if (at) {
      await Promise.all(
        begun.map(async (each) => {
          await reach(each, at);
          if (isUnseen.has(at)) await delay(500);
          if (!who) each.call.leave();
        }),
      );
      if (who) gateway.kill(who);
      if (who && who !== 'simulator') await Promise.all(begun.map(({ marker }) => gateway.client.release(marker)));
    } else for (const { call } of begun) call.finishBody();
    await Promise.all(begun.map(({ call }) => call.over));
    if (away) await gateway.start(away);
    if (who) await eventually('the gateway to be whole', () => gateway.whole().then(() => true));
    // A simulator that died has forgotten what it was asked.
    const isCounted = who !== 'simulator' && away !== 'simulator';
    for (const each of begun) {
      await expectTold(each, 'over' in told ? told : told[each.kind], isCounted);
      if (!who && !away) await expectAdmittedOnce(each);
    }
  });

  test('the client leaves while its call waits for the sidecar, which goes on: no provider is asked', async () => {
    const goOn = gateway.pause('receipt-sidecar');
    const begun = await Promise.all(kinds.flatMap((kind) => versions.map((version) => begin(kind, version))));
    for (const { call } of begun) call.finishBody();
    // Nobody can see from outside that the sidecar has it, nor that Envoy knows that the client has gone.
    await delay(500);
    for (const { call } of begun) call.leave();
    await delay(500);
    goOn();
    await gateway.whole();
    for (const each of begun) await expectTold(each, notAsked(null, 'broken'), true);
  });

  test('no end has left another receipt since', async () => {
    expect(expected.size).toBeGreaterThan(isLongRun ? 80 : 60);
    for (const [accountId, receipts] of expected) expect(await rowsOf(accountId), accountId).toHaveLength(receipts);
  });
});

/** One run: a gateway with two of each part under mixed traffic, a schedule of troubles, and the books afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hourMs } from '@gw/contract/internal/durations';
import type { RedisUser } from '@gw/contract/internal/redis-users';
import { untilDayHolds } from '@gw/testing/one-day';
import { rowsSince, usageDifferences } from '../long/ledger-claims.ts';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';
import { differencesOf, type EnvoyEnd, oddReplies } from './books.ts';
import { budgetDifferences, setBudgets } from './budget-books.ts';
import { startCertificates } from './certificates.ts';
import { type Follower, followLedger } from './follower.ts';
import { startReplica } from './promotion.ts';
import { type ProviderWatch, watchProvider } from './provider-calls.ts';
import { envoys, groundOf, scheduleOf, services } from './schedule.ts';
import { startTraffic, type Traffic } from './traffic.ts';
import { type Blow, clockFile, mendAll, type Surroundings, strikeAll } from './troubles.ts';
import { type ValkeyMemory, watchValkeyMemory } from './valkey-memory.ts';
import { startValkeyServers } from './valkey-servers.ts';

export interface Outcome {
  readonly requests: number;
  readonly answered: number;
  readonly receipts: number;
  /** Calls that ext-authz counted. */
  readonly counted: number;
  readonly providerCalls: number;
  readonly strikes: number;
  /** Where the books do not balance. */
  readonly differences: readonly string[];
  /** The actions with their times, a line each. */
  readonly story: string;
}

export interface ChaosOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** Told what is done, as it is done. */
  readonly tell?: (line: string) => void;
}

const perDay = 1_000_000;
/**
 * Leases of 30 s have to run out, and a Valkey that was away gives each of them a whole one again; what a dead sidecar had
 * reserved for a call that reached no provider is given back after two minutes.
 */
const settleMs = 180_000;

export async function runChaos({ seed, durationMs, tell: told = () => {} }: ChaosOptions): Promise<Outcome> {
  const lines: string[] = [];
  const tell = (line: string) => {
    lines.push(line);
    told(line);
  };
  const clocks = mkdtempSync(join(tmpdir(), 'gw-clocks-'));
  const preload = pathToFileURL(fileURLToPath(new URL('skewed-clock.mjs', import.meta.url))).href;
  const clock = (part: string) => ({
    NODE_OPTIONS: `--import=${preload}`,
    GW_TEST_CLOCK_FILE: clockFile(clocks, part),
  });
  const ground = groundOf(seed);
  const valkey = await startValkeyServers(ground);
  const certificates = startCertificates(ground);
  const stores = (part: string) => (valkey ? { GW_REDIS_URL: valkey.urlAs(userOf(part)) } : {});
  const env = Object.fromEntries(services.map((part) => [part, { ...clock(part), ...stores(part) }]));
  const network = certificates ? { internalTls: certificates.filesOf } : {};
  tell(`Valkey is ${ground.valkey}; the parts speak over ${certificates ? 'the network' : 'sockets'}`);
  const own = await startOwnGateway({ instances: 2, controlPlanes: 2, envoys: 2, env, ...network });
  const gateway = { ...own, stack: { ...own.stack, redisUrl: valkey?.ownerUrl ?? own.stack.redisUrl } };
  try {
    const outcome = await underChaos({ gateway, clocks, valkey, certificates, tell }, { seed, durationMs });
    return { ...outcome, story: lines.join('\n') };
  } finally {
    await gateway.stop();
    await valkey?.stop();
    certificates?.stop();
    rmSync(clocks, { recursive: true, force: true });
  }
}

const userOf = (part: string): RedisUser => {
  if (part.startsWith('ext-authz')) return 'ext_authz';
  return part.startsWith('receipt-sidecar') ? 'sidecar' : 'control_plane';
};

/** The parts need this long after the chaos until the day's count is read, ms. */
const afterMs = 60_000;

/** Waits for midnight UTC if it is so near that the calls would be counted in two days; the books have one. */
async function untilOneDayHoldsIt(durationMs: number, tell: Surroundings['tell']): Promise<void> {
  const waitMs = untilDayHolds(durationMs + afterMs, Date.now());
  if (waitMs === 0) return;
  tell(`waiting ${Math.ceil(waitMs / 1000)} s for midnight UTC, since the books are of one day`);
  await delay(waitMs);
}

async function underChaos(
  surroundings: Surroundings,
  { seed, durationMs }: Pick<ChaosOptions, 'seed' | 'durationMs'>,
): Promise<Omit<Outcome, 'story'>> {
  const { gateway, tell } = surroundings;
  await untilOneDayHoldsIt(durationMs, tell);
  const from = new Date(Date.now() - hourMs);
  const { stack, dir } = gateway;
  const accounts = openTestAccounts({ databaseUrl: stack.databaseUrl, dir });
  const apiKey = await accounts.create({ perDay, perS: 1000, streams: 500 });
  await accounts.close();
  await setBudgets(gateway, accountIdOf(apiKey));
  const provider = watchProvider(stack.simulatorUrl);
  const traffic = startTraffic({ publicUrls: stack.publicUrls, apiKey, seed });
  const follower = followLedger(gateway.client, apiKey);
  const accountId = accountIdOf(apiKey);
  const memory = watchValkeyMemory({ redisUrl: stack.redisUrl, accountId, tell });
  const strikes = scheduleOf(seed, durationMs);
  const replica = strikes.some(({ trouble }) => trouble === 'promote') ? await startReplica(gateway) : null;
  const start = performance.now();
  const blows = await strikeAll({ ...surroundings, accountId, follower, replica }, strikes);
  await delay(Math.max(0, durationMs - (performance.now() - start)));
  await replica?.stop();
  await mendAll(surroundings);
  await gateway.whole();
  await delay(2000);
  await traffic.stop();
  await follower.stop();
  await memory.stop();
  const endedAt = Date.now();
  tell(`${traffic.attempts.length} requests were sent; waiting until the books are closed`);
  const books = new BookKeeping(gateway, { traffic, provider, follower, memory, apiKey, from, endedAt, blows });
  const differences = await books.settled();
  provider.stop();
  return { ...(await books.sums()), strikes: blows.length, differences };
}

interface Kept {
  readonly traffic: Traffic;
  readonly provider: ProviderWatch;
  readonly follower: Follower;
  readonly memory: ValkeyMemory;
  readonly apiKey: string;
  readonly from: Date;
  /** When the last call had ended, by the clock. */
  readonly endedAt: number;
  readonly blows: readonly Blow[];
}

class BookKeeping {
  readonly #gateway: OwnGateway;
  readonly #kept: Kept;

  constructor(gateway: OwnGateway, kept: Kept) {
    this.#gateway = gateway;
    this.#kept = kept;
  }

  async #read() {
    const { traffic, provider, apiKey, from, blows, memory } = this.#kept;
    // Before the receipts, since each call that was counted has one.
    const counted = await this.#gateway.db.callCount.findMany({ where: { accountId: accountIdOf(apiKey) } });
    const rows = await rowsSince(this.#gateway.db, from, accountIdOf(apiKey));
    const { publicUrls } = this.#gateway.stack;
    const envoyEnds: EnvoyEnd[] = [];
    for (const { part, atMs, back } of blows) {
      const [url, backMs] = [publicUrls[envoys.indexOf(part as (typeof envoys)[number])], await back];
      if (url !== undefined && backMs !== null) envoyEnds.push({ url, atMs, backMs });
    }
    const [{ attempts }, { forgotten }] = [traffic, memory];
    return { attempts, providerCalls: await provider.calls(), rows, counted, blows, forgotten, envoyEnds };
  }

  /** The day's count, by the headers of an extra call, which counts too. */
  async #usedToday(): Promise<number> {
    const { headers } = await this.#gateway.client.get('/v1/models', this.#kept.apiKey);
    return perDay - Number(headers.get('x-ratelimit-remaining-day')) - 1;
  }

  /** The differences that stay. */
  async settled(): Promise<string[]> {
    const { apiKey, endedAt, follower, from } = this.#kept;
    const { client } = this.#gateway;
    const usedToday = await this.#usedToday();
    await this.#untilCounted();
    for (const deadline = Date.now() + settleMs; ; await delay(2000)) {
      const books = await this.#read();
      const usage = await usageDifferences(client, from, books.rows, apiKey);
      const account = { accountId: accountIdOf(apiKey), apiKey };
      const budgets = await budgetDifferences(this.#gateway, account, books.rows, endedAt);
      const feed = await follower.differencesFrom(books.rows);
      const open = [
        ...differencesOf({ ...books, usedToday }),
        ...usage.map((line) => `usage: ${line}`),
        ...budgets.map((line) => `budgets: ${line}`),
        ...feed.map((line) => `feed: ${line}`),
      ];
      if (open.length === 0 || Date.now() > deadline) return [...oddReplies(books), ...open];
    }
  }

  /** Until each ext-authz has stated what it counted, and that was added up. */
  async #untilCounted(): Promise<void> {
    const saidMs = 5000;
    const lastAt = { lt: new Date(this.#kept.endedAt + saidMs) };
    for (const deadline = Date.now() + settleMs; Date.now() < deadline; await delay(1000))
      if ((await this.#gateway.db.witnessLife.count({ where: { endedAt: null, lastAt } })) === 0) return;
  }

  async sums() {
    const { attempts, counted, providerCalls, rows } = await this.#read();
    return {
      requests: attempts.length,
      answered: attempts.filter(({ status, whole }) => status === 200 && whole).length,
      receipts: new Set(rows.map(({ id }) => id)).size,
      counted: counted.reduce((sum, { calls }) => sum + calls, 0),
      providerCalls: providerCalls.length,
    };
  }
}

const accountIdOf = (apiKey: string): string => `acct_test_${apiKey.split('_')[1] ?? ''}`;

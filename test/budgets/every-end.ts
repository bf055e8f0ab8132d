/**
 * Calls that end in every way, and the budgets of their account held against its receipts.
 *
 * `used` has to be the sum of the receipts to the last digit, and each call has to explain its part of `used_estimated`.
 */
import { createServer } from 'node:net';
import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import { type BudgetUnit, monthOf, nearestSteps } from '@gw/contract/internal/budgets';
import type { Receipt } from '@gw/contract/receipt';
import type { Database } from '@gw/prisma/client';
import { newest, rowsSince } from '../long/ledger-claims.ts';
import { removeEntries } from '../operator-api.ts';

/** States what the receipt of a call says, or what is taken in its place. `delivered`: nothing if the connection broke before the first word. */
type Takes = 'stated' | 'nothing' | 'assumed' | 'delivered';

interface Way {
  readonly takes: Takes;
  readonly stream?: boolean;
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** When the client leaves, ms after it sent the call; `text`: with the first bytes of the reply. */
  readonly leaves?: number | 'text';
}

const broken = (fault: string) => ({ 'x-sim-fault': fault });
const promptTokensAtLeast = 1;
/** The longest answer that is assumed (docs/budgets.md). */
const assumedTokens = 400;
/** The longest answer that each call allows: a reservation that stays would be seen at once. */
const maxTokens = 5000;
const short = { 'x-sim-tokens': '20' };

export const ways: Readonly<Record<string, Way>> = {
  'a JSON reply': { takes: 'stated', headers: short },
  'a stream': { takes: 'stated', stream: true, headers: short },
  'a reply without counts': { takes: 'stated', headers: { ...short, ...broken('no-usage') } },
  'a reply after a failure elsewhere': { takes: 'stated', headers: { ...short, ...broken('paris:status-503') } },
  'a stream after a lost connection elsewhere': {
    takes: 'stated',
    stream: true,
    headers: { ...short, ...broken('oslo:reset') },
  },
  'a 400': { takes: 'nothing', headers: broken('status-400') },
  'a 401': { takes: 'nothing', headers: broken('status-401') },
  'a 403': { takes: 'nothing', headers: broken('status-403') },
  'a 404': { takes: 'nothing', headers: broken('status-404') },
  'a 429': { takes: 'nothing', headers: broken('status-429') },
  'a 500': { takes: 'nothing', headers: broken('status-500') },
  'a 503 of a stream': { takes: 'nothing', stream: true, headers: broken('status-503') },
  'no connection': { takes: 'nothing', model: 'closed' },
  'a lost connection': { takes: 'nothing', headers: broken('reset') },
  'no reply in time': { takes: 'nothing', model: 'mute' },
  'a reply that is cut off': { takes: 'nothing', headers: { ...short, ...broken('cut') } },
  'a stream that is cut off': { takes: 'delivered', stream: true, headers: { ...short, ...broken('cut') } },
  'a reply that is no JSON': { takes: 'assumed', headers: broken('malformed') },
  'a client that leaves a stream': {
    takes: 'stated',
    stream: true,
    headers: { 'x-sim-tokens-per-second': '200' },
    leaves: 'text',
  },
  'a client that leaves before a JSON reply': { takes: 'assumed', headers: { 'x-sim-delay-ms': '2000' }, leaves: 300 },
};

export interface EndedCall {
  readonly way: string;
  /** Null if the client left before it learned it. */
  readonly receiptId: string | null;
}

interface BudgetPlace {
  readonly publicUrl: string;
  readonly key: string;
}

/** Sends so many calls over so many connections, each way as often as the others. */
export async function endInEveryWay(place: BudgetPlace, count: number, connections: number): Promise<EndedCall[]> {
  const names = Object.keys(ways);
  const ended: EndedCall[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < count) {
      const way = names[begun % names.length] as string;
      begun += 1;
      ended.push({ way, receiptId: await callOnce(place, ways[way] as Way) });
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return ended;
}

async function callOnce({ key, publicUrl }: BudgetPlace, way: Way): Promise<string | null> {
  const { headers = {}, leaves, model = 'sim-small', stream = false } = way;
  const leaving = new AbortController();
  const timer = typeof leaves === 'number' ? setTimeout(() => leaving.abort(), leaves) : undefined;
  let receiptId: string | null = null;
  try {
    const reply = await fetch(`${publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-sim-tokens-per-second': '0',
        ...headers,
      },
      body: JSON.stringify({ model, stream, max_tokens: maxTokens, messages: [{ role: 'user', content: 'Hello' }] }),
      signal: leaving.signal,
    });
    receiptId = reply.headers.get('x-gw-receipt-id');
    for await (const _ of reply.body ?? []) if (leaves === 'text') break;
  } catch {
    // The connection broke, or this client has left.
  } finally {
    clearTimeout(timer);
    if (leaves === 'text') leaving.abort();
  }
  return receiptId;
}

/**
 * Adds the models `closed`, at whose provider nobody listens, and `mute`, whose provider never answers, and waits until `place` knows them.
 * Returns a function that removes them.
 */
export async function addBrokenProviders(api: OperatorApi, place: BudgetPlace): Promise<() => Promise<void>> {
  const sockets = new Set<{ destroy: () => void }>();
  const mute = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  const closed = createServer();
  const ports = await Promise.all([mute, closed].map((server) => portOf(server)));
  await new Promise((resolve) => closed.close(resolve));
  for (const [at, id] of ['mute', 'closed'].entries()) {
    const calls = id === 'mute' ? { first_byte_timeout_s: 1, timeout_s: 1 } : {};
    await api.send('POST', '/operator/v1/providers', {
      id,
      name: id,
      base_url: `http://127.0.0.1:${ports[at]}/v1`,
      ...calls,
    });
    await api.send('POST', '/operator/v1/models', { id, owned_by: id, kind: 'chat', model_class: 'small' });
    await api.send('POST', '/operator/v1/deployments', {
      id,
      provider: id,
      region: 'us-east',
      models: { [id]: id },
      pue: 1.2,
    });
  }
  // A call that is refused because of its model has no receipt.
  while ((await callOnce(place, { takes: 'nothing', model: 'closed' })) === null)
    await new Promise((resolve) => setTimeout(resolve, 200));
  return async () => {
    await removeEntries(
      api,
      ...['deployments', 'models', 'providers'].flatMap((kind) => [`${kind}/mute`, `${kind}/closed`]),
    );
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => mute.close(resolve));
  };
}

const portOf = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });

const units = ['tokens', 'energy_wh', 'carbon_g'] as const satisfies readonly BudgetUnit[];

interface ShownBudget {
  readonly unit: (typeof units)[number];
  readonly used: number;
  readonly used_estimated: number;
  readonly reserved: number;
}

const pathOf = (accountId: string) => `/operator/v1/accounts/${accountId}/budgets`;

export async function setEveryBudget(api: OperatorApi, accountId: string): Promise<void> {
  for (const unit of units)
    await api.send('POST', pathOf(accountId), { scope: 'account', unit, amount: 1e9, kind: 'hard' });
}

interface Books {
  readonly api: OperatorApi;
  readonly db: Database;
  readonly accountId: string;
  readonly calls: readonly EndedCall[];
}

export interface Balance {
  readonly calls: number;
  readonly receipts: number;
  readonly used: number;
  readonly usedEstimated: number;
  /** A line for each difference, or call that does not explain what it took. */
  readonly differences: readonly string[];
}

/** Holds budgets, `/v1/usage`, receipts and calls against each other. */
export async function balanceOf({ accountId, api, calls, db }: Books): Promise<Balance> {
  const { data } = (await api.get(pathOf(accountId))) as { readonly data: readonly ShownBudget[] };
  const from = `${monthOf(Date.now())}-01`;
  const query = { account_id: accountId, from, interval: 'total', group_by: '', simulated: 'include' };
  const { total } = (await api.get('/operator/v1/usage', query)) as { readonly total: Record<string, number | null> };
  const bodies = newest(await rowsSince(db, new Date(from), accountId)).map(({ body }) => body);
  const estimates = await db.budgetEstimate.findMany({ where: { accountId } });
  const tokensAssumed = new Map(estimates.map(({ receiptId, tokens }) => [receiptId, tokens ?? 0]));
  const unstated = bodies.filter(({ prompt_tokens }) => prompt_tokens === null);
  const ofUsage = {
    tokens: (total.prompt_tokens ?? 0) + (total.completion_tokens ?? 0),
    energy_wh: total.energy_wh ?? 0,
    carbon_g: total.carbon_g ?? 0,
  };
  const differences = data.flatMap(({ reserved, unit, used }) => [
    ...(nearestSteps(unit, used) === nearestSteps(unit, ofUsage[unit])
      ? []
      : [`${unit}: ${used} used, and usage says ${ofUsage[unit]}`]),
    ...(reserved === 0 ? [] : [`${unit}: ${reserved} reserved`]),
  ]);
  const tokens = data.find(({ unit }) => unit === 'tokens');
  const explained = unstated.reduce((sum, { id }) => sum + (tokensAssumed.get(id) ?? 0), 0);
  if (tokens?.used_estimated !== explained)
    differences.push(`${tokens?.used_estimated} tokens are estimated, and the calls explain ${explained}`);
  return {
    calls: calls.length,
    receipts: bodies.length,
    used: tokens?.used ?? 0,
    usedEstimated: tokens?.used_estimated ?? 0,
    differences: [...differences, ...wrongCalls(calls, bodies, tokensAssumed)],
  };
}

/** The calls that took something else than the end that they had. Those whose client learned no id are counted. */
function wrongCalls(
  calls: readonly EndedCall[],
  bodies: readonly Receipt[],
  assumed: ReadonlyMap<string, number>,
): string[] {
  const byId = new Map(bodies.map((body) => [body.id, body]));
  const named = new Set(calls.map(({ receiptId }) => receiptId));
  const wrong = calls.flatMap(({ receiptId, way }) => {
    if (receiptId === null) return [];
    const body = byId.get(receiptId);
    if (body === undefined) return [`${way}: the receipt ${receiptId} is missing`];
    const took = takenBy(body, assumed);
    const ought = ways[way]?.takes;
    const isRight = took === ought || (ought === 'delivered' && (took === 'stated' || took === 'nothing'));
    return isRight ? [] : [`${way}: ${receiptId} took ${took}, ${body.status}, ${body.degraded_reason}`];
  });
  const unnamed = bodies.filter(({ id }) => !named.has(id));
  const left = calls.filter(({ receiptId }) => receiptId === null);
  const odd = unnamed.filter((body) => takenBy(body, assumed) !== 'assumed');
  const lines = odd.map((body) => `${body.id} of a client that left took ${takenBy(body, assumed)}`);
  // One that left before its call was sent has none.
  if (unnamed.length > left.length)
    lines.push(`${left.length} clients learned no id, and ${unnamed.length} receipts are theirs`);
  return [...wrong, ...lines];
}

function takenBy({ completion_tokens, id, prompt_tokens }: Receipt, assumed: ReadonlyMap<string, number>): string {
  if (prompt_tokens !== null && completion_tokens !== null) return 'stated';
  const tokens = assumed.get(id);
  if (tokens === undefined) return 'nothing that is written down';
  if (tokens === 0) return 'nothing';
  const most = assumedTokens + 20;
  return tokens >= assumedTokens + promptTokensAtLeast && tokens <= most ? 'assumed' : `${tokens} tokens`;
}

/** An instance of ext-authz without gRPC, on real stores. */
import { makeCheck } from '@gw/ext-authz/internals/check';
import { watchChanges } from '@gw/ext-authz/internals/keys/change-watch';
import { KeyCache } from '@gw/ext-authz/internals/keys/key-cache';
import { KeyDirectory } from '@gw/ext-authz/internals/keys/key-directory';
import { allPublicIds, findKey, keyChanges } from '@gw/prisma/find-key';
import { queryTimeoutMs } from '@gw/prisma/roles';
import { openStatements } from '@gw/prisma/statements';
import type { Redis } from 'ioredis';
import { addresses, type Stores, silentLog } from './fixtures.ts';

export const pepper = { version: 1, secret: Buffer.alloc(32, 7) };
const peppers = { current: pepper, other: null };

/** Never told anything, as if each message were lost. */
const deaf = { status: 'connecting', on: () => {}, subscribe: async () => 0 } as unknown as Redis;

export interface Instance {
  readonly lookUps: () => number;
  /** How often it has read the ids of all keys. */
  readonly lists: () => number;
  /** `ok`, or the code of the refusal. */
  ask(key: string): Promise<string>;
}

/** On `stores`; `told`: whether messages reach it; `clock`: monotonic, ms; `now`: of the machine. What ends it is put into `stops`. */
export async function startInstance(
  stores: Stores,
  stops: (() => unknown)[],
  { told = true, clock = () => performance.now(), now = Date.now } = {},
): Promise<Instance> {
  const db = openStatements(stores.postgres.as('ext_authz'), {
    connections: 4,
    queryTimeoutMs: queryTimeoutMs('ext_authz'),
    onConnectionLost: () => {},
  });
  const redis = stores.connect();
  const subscriber = told ? stores.connect() : deaf;
  await Promise.all([redis, subscriber].map((each) => each === deaf || new Promise((ok) => each.once('ready', ok))));
  let lookUps = 0;
  let lists = 0;
  const load = () => {
    lists += 1;
    return allPublicIds(db);
  };
  const directory = new KeyDirectory({ now: clock, load });
  const find = (publicId: string) => {
    lookUps += 1;
    return findKey(db, publicId);
  };
  const cache = new KeyCache(
    { find },
    { now: clock, capacity: 50_000, graceMs: 60_000, admit: (id) => directory.admit(id) },
  );
  const watch = watchChanges({
    cache,
    directory,
    changes: (known) => keyChanges(db, known),
    redis,
    subscriber,
    now: clock,
    pollMs: 300,
    patienceMs: 300,
    log: silentLog,
  });
  stops.push(
    () => watch.stop(),
    () => db.close(),
  );
  await watch.ready;
  const notes = { used: () => {}, failed: () => {} };
  const errors = { note: () => {} };
  const admission = { letIn: async () => null };
  const fits = () => true;
  const check = makeCheck({ cache, peppers, fits, renew: () => {}, notes, now, addresses, errors, admission });
  return {
    lookUps: () => lookUps,
    lists: () => lists,
    ask: async (key) => {
      const headers = { authorization: `Bearer ${key}` };
      const contextExtensions = { scope: 'inference:write', limit: 'calls', handler: 'sidecar', open_to: 'active' };
      const { deniedResponse } = await check({ attributes: { contextExtensions, request: { http: { headers } } } });
      return deniedResponse ? JSON.parse(String(deniedResponse.body)).error.code : 'ok';
    },
  };
}

/** Whether Valkey takes the writes of this process, and why not. */
import { storeProbeKeys } from '@gw/contract/internal/redis';
import { NoAnswer, type StoreWatch, watchStore } from './store-watch.ts';
import type { Troubles } from './troubles.ts';

const everyMs = 2000;
const holdsMs = 6000;
const keepMs = 10_000;

/** `send` writes one command. */
export const watchValkey = (
  send: (command: readonly string[]) => Promise<unknown>,
  troubles: Troubles,
  now: () => number,
): StoreWatch =>
  watchStore({
    name: 'redis',
    write: () => Promise.all(storeProbeKeys.map((key) => send(['SET', key, '', 'PX', String(keepMs)]))),
    sentence: valkeyTrouble,
    everyMs,
    holdsMs,
    troubles,
    now,
  });

const away =
  'Valkey takes no writes of this process: it cannot be reached, or does not answer. Look at the server, and at the network between.';
const refusals: readonly (readonly [RegExp, string])[] = [
  [
    /^OOM/,
    'Valkey is full and refuses writes (maxmemory). Give it more memory, or find what fills it (INFO memory, MEMORY STATS).',
  ],
  [
    /^(MOVED|ASK|CROSSSLOT|CLUSTERDOWN)/,
    'Valkey is a cluster, and this process reaches one of its nodes alone, or the cluster is down. Check GW_REDIS_URL, and CLUSTER INFO.',
  ],
  [/^READONLY/, 'This Valkey is a replica and takes no writes. GW_REDIS_URL has to lead to the primary.'],
  [/^MISCONF/, 'Valkey cannot save its data and refuses writes. Look at its disk and its log (INFO persistence).'],
  [/^(NOAUTH|NOPERM|WRONGPASS)/, 'Valkey refuses the user of GW_REDIS_URL. Check its password, and the file of users.'],
  [/^LOADING/, 'Valkey loads its data and takes no writes yet. Wait for it.'],
];

/** Returns what is wrong, without the words of the error: it may hold an address. */
export function valkeyTrouble(error: unknown): string {
  if (error instanceof NoAnswer || !(error instanceof Error)) return away;
  return refusals.find(([reply]) => reply.test(error.message))?.[1] ?? away;
}

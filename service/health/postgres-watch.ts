/** Whether Postgres takes the writes of this process, and why not. */
import { NoAnswer, type StoreWatch, watchStore } from './store-watch.ts';
import type { Troubles } from './troubles.ts';

const everyMs = 5000;
const holdsMs = 15_000;

/** `write` commits something small. */
export const watchPostgres = (write: () => Promise<unknown>, troubles: Troubles, now: () => number): StoreWatch =>
  watchStore({ name: 'postgres', write, sentence: postgresTrouble, everyMs, holdsMs, troubles, now });

const away =
  'Postgres commits no writes of this process: it cannot be reached, does not answer, or waits for its standby. Look at the server, and at the network between.';
const refusals: readonly (readonly [RegExp, string])[] = [
  [
    /25006|read-only transaction|during recovery/,
    'This Postgres is a standby and takes no writes. GW_DATABASE_URL… have to lead to the primary.',
  ],
  [/53100|No space left/, 'The disk of Postgres is full, so that it commits nothing. Free or add space.'],
  [
    /53300|too many (clients|connections)/,
    'Postgres has no connection left. Raise max_connections, or look who holds them (pg_stat_activity).',
  ],
  [
    /28P01|28000|authentication failed|does not exist/,
    'Postgres refuses a role of the gateway. Run the migration, and check the passwords in GW_DATABASE_URL….',
  ],
];

/** Returns what is wrong, without the words of the error: it may hold an address. */
export function postgresTrouble(error: unknown): string {
  if (error instanceof NoAnswer || !(error instanceof Error)) return away;
  const said = `${'code' in error ? String(error.code) : ''} ${error.message}`;
  return refusals.find(([words]) => words.test(said))?.[1] ?? away;
}

/**
 * The users that the parts connect to Redis (Valkey) as, and what each may do there, as rules of its access control lists.
 *
 * Invariant: a part reaches the keys of its work and no others. The control plane alone writes the catalogue. The others add to
 * the stream of receipts. They delete no entry of their choice there, but may cut off the oldest while they add one (`XADD … MAXLEN`), which no
 * rule can forbid: sidecars take these for read, and the second witness names the loss. A script may do what its user may.
 */
import {
  callEndKey,
  deploymentTroublesKey,
  failedAttemptChannel,
  failedMinutesKey,
  groundAlarmKey,
  judgedAttemptChannel,
  keyChangedChannel,
  keyChangesKey,
  keyGenerationKey,
  keyTombstonesKey,
  ledgerProbeKey,
  ledgerStream,
  liveKey,
  lostAttemptChannel,
  pendingReceiptsKey,
  policyEventStream,
  receiptKey,
  snapshotChannel,
  snapshotKey,
  snapshotSealKey,
  snapshotVersionKey,
  storeProbeKeys,
  streamEpochKey,
  usedKeysKey,
} from './redis.ts';

export const redisUsers = ['ext_authz', 'sidecar', 'control_plane'] as const;
export type RedisUser = (typeof redisUsers)[number];
export const redisUserName = (user: RedisUser): string => `gw_${user}`;
/** May do everything; for people and tests. */
export const redisOwner = 'gw_owner';

/** All that reads, writes, subscribes and runs scripts, but nothing that is for the server as a whole. */
const work = [
  ...['-@all', '+@read', '+@write', '+@connection', '+@transaction', '+@scripting', '+@pubsub', '+time'],
  ...[
    '-@dangerous',
    '-@admin',
    '-function',
    '-script|flush',
    '-script|kill',
    '+info',
    '+cluster|info',
    '+cluster|slots',
  ],
];

const readAndWrite = (...keys: readonly string[]): string[] => keys.map((key) => `~${key}`);
const read = (...keys: readonly string[]): string[] => keys.map((key) => `%R~${key}`);
const write = (...keys: readonly string[]): string[] => keys.map((key) => `%W~${key}`);
const channels = (...names: readonly string[]): string[] => names.map((name) => `&${name}`);
/** Allows these commands with these keys beside everything else. */
const only = (commands: readonly string[], keys: readonly string[]): string =>
  `(-@all ${[...commands.map((command) => `+${command}`), ...keys].join(' ')})`;

/** A script that names these keys may run; each of its commands is held to the other rules (service/append-entry.ts). */
const append = only(['eval', 'evalsha'], readAndWrite(ledgerStream, receiptKey('*'), pendingReceiptsKey));

const epochs = [ledgerStream, policyEventStream].map(streamEpochKey);

const redisRules: Readonly<Record<RedisUser, readonly string[]>> = {
  ext_authz: [
    ...work,
    ...read(keyGenerationKey, keyChangesKey, keyTombstonesKey, groundAlarmKey),
    ...readAndWrite(usedKeysKey('*'), failedMinutesKey, `${failedMinutesKey}:*`, 'gw:limit:*'),
    ...write(...storeProbeKeys),
    ...channels(keyChangedChannel),
    // It keeps the receipts that clients were shown although their sidecar was gone.
    append,
    only(['xadd'], write(ledgerStream)),
    only(['set'], write(receiptKey('*'), callEndKey('*'))),
    only(['zrem'], write(pendingReceiptsKey)),
  ],
  sidecar: [
    ...work,
    ...read(snapshotKey, snapshotSealKey, snapshotVersionKey, groundAlarmKey),
    ...readAndWrite(
      'gw:limit:*',
      'gw:slots:*',
      'gw:budgets:*',
      'gw:idempotency:*',
      'gw:{idempotency}:*',
      callEndKey('*'),
    ),
    ...readAndWrite(receiptKey('*'), pendingReceiptsKey, liveKey, deploymentTroublesKey, ledgerProbeKey, ...epochs),
    ...write(...storeProbeKeys),
    ...channels(snapshotChannel, failedAttemptChannel, judgedAttemptChannel, lostAttemptChannel),
    append,
    only(
      ['eval', 'evalsha', 'xadd', 'xrange', 'xlen', 'xinfo'],
      readAndWrite(ledgerStream, policyEventStream, ...epochs),
    ),
  ],
  // `{gw}:` is the prefix of its job queues.
  control_plane: [...work, ...readAndWrite('gw:*', '{gw}:*', '{gw:*'), ...channels('gw:*')],
};

/**
 * Returns the file of all users. `passwordOf` gives a password as the file writes it: `>` and the password, or `#` and its SHA-256. A
 * connection that names no user may do nothing.
 */
export function redisUsersFile(passwordOf: (user: RedisUser | 'owner') => string): string {
  const line = (name: string, password: string, rules: readonly string[]) =>
    `user ${name} on ${password} ${rules.join(' ')}\n`;
  const parts = redisUsers.map((user) => line(redisUserName(user), passwordOf(user), redisRules[user]));
  return ['user default off\n', line(redisOwner, passwordOf('owner'), ['+@all', '~*', '&*']), ...parts].join('');
}

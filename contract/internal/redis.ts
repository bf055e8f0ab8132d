/**
 * All keys that the services share in Redis.
 *
 * Invariant: the keys of one script, transaction or pipeline share a hash tag, and so a node of a Valkey Cluster: those of an account, of
 * the ledger, of the catalogue, of the notes on keys. The tag `{gw:ledger}` is where the key `gw:ledger` is, since a key without a tag
 * is hashed whole. The tests run on a Valkey in cluster mode, which refuses all else (CROSSSLOT).
 */

/** The snapshot as JSON, and its version for polling. */
export const snapshotKey = 'gw:snapshot';
export const snapshotVersionKey = '{gw:snapshot}:version';
/** Its seals (snapshot-seal.ts). */
export const snapshotSealKey = '{gw:snapshot}:seal';
/** Channel for new snapshots; the message is the version. */
export const snapshotChannel = 'gw:snapshot:changed';

/** Counts changes of keys and accounts, for polling. The hash tag puts what one script writes together on one node. */
export const keyGenerationKey = 'gw:{keys}:generation';
/** Sorted set: a key's public id, or `account:<id>`, → the generation at which it changed last. */
export const keyChangesKey = 'gw:{keys}:changes';
/** Sorted set of the keys that are revoked and the accounts that may not call, named likewise → when that was seen, ms since 1970. */
export const keyTombstonesKey = 'gw:{keys}:tombstones';
/** Hash: how far Postgres was when it was last seen, and the newest head of each audit chain (ground.ts). */
export const groundKey = 'gw:{keys}:ground';
export const groundChainsKey = 'gw:{keys}:ground:audit';
/** Set while Postgres has gone back in time and no operator has confirmed it: a GroundAlarm as JSON. */
export const groundAlarmKey = 'gw:{keys}:alarm';
/** Channel for changes; the message is a key's public id, or `account:<id>` for all keys of an account. */
export const keyChangedChannel = 'gw:keys:changed';
const accountPrefix = 'account:';
export const accountMessage = (accountId: string): string => `${accountPrefix}${accountId}`;
/** Returns null if the message is the id of a key. */
export const accountOfMessage = (message: string): string | null =>
  message.startsWith(accountPrefix) ? message.slice(accountPrefix.length) : null;

/** Set of the ids of keys used on a UTC day (`2026-11-21`), until a job has written them to Postgres. */
export const usedKeysKey = (day: string): string => `gw:{keys}:used:${day}`;
/** Hash of one UTC minute (its number since 1970): `<key id or -> <code>` → failed verifications. */
export const failedKeysKey = (minute: number): string => `gw:{keys}:failed:${minute}`;
/** Set of the minutes with such a hash, and set of the hashes that a job is writing to Postgres. */
export const failedMinutesKey = 'gw:{keys}:failed';
export const takenFailuresKey = 'gw:{keys}:failed:taken';

/** Stream of finished receipts. One field, `entry`: the bytes of a sealed entry (sealed-entry.ts). */
export const ledgerStream = 'gw:ledger';
export const ledgerGroup = 'ingest';
/** Entries that cannot be ingested, kept for inspection: the original `entry`, and `reason`. */
export const deadLedgerStream = '{gw:ledger}:dead';
/** Entries that Postgres has and no sidecar keeps: of calls whose sidecar died. They are put in again if Postgres goes back in time. */
export const orphanLedgerStream = '{gw:ledger}:orphans';

/** Identifies the lifetime of a stream, to detect an emptied Redis. The hash tag puts it on the node of the stream. */
export const streamEpochKey = (stream: string): string => `{${stream}}:epoch`;

/** Written to find out whether Redis accepts writes again. */
export const ledgerProbeKey = '{gw:ledger}:probe';

/**
 * Each part writes them every two seconds, to find out whether Redis takes writes. Their slots lie in the first, second and last third of a
 * cluster, so that a connection that reaches one node alone is told.
 */
export const storeProbeKeys = ['b', 'c', 'a'].map((tag) => `gw:probe:{${tag}}`);

/**
 * Where a receipt is that Postgres may not have yet: the id of its entry in the stream. While its call runs, and if it could not be
 * ingested, the bytes of the sealed entry themselves.
 */
export const receiptKey = (receiptId: string): string => `{gw:ledger}:receipt:${receiptId}`;
/** How long Redis keeps a receipt, seconds; far longer than the ingester needs. */
export const receiptTtlS = 3600;
/** Sorted set of pending receipts: member = receipt id, score = when its holder counts as dead (ms since 1970). */
export const pendingReceiptsKey = '{gw:ledger}:pending';
/** How long a holder may be silent before its pending receipts are closed as degraded. */
export const pendingLeaseMs = 30_000;

/** The account is the hash tag, so that one script can decide bucket and day counter. */
export const limitKey = (accountId: string, kind: string): string => `gw:limit:{${accountId}}:${kind}`;

/**
 * Sorted sets of the open streams of an account, and of one of its keys: member = slot, score = when its lease ends (ms
 * since 1970, by Redis' clock).
 */
export const slotsKey = (accountId: string): string => `gw:slots:{${accountId}}`;
export const keySlotsKey = (accountId: string, keyId: string): string => `gw:slots:{${accountId}}:${keyId}`;

/**
 * The use of an account's budgets in a UTC month, and the calls that the sums in Postgres do not include yet
 * (service/budgets/scripts.lua.ts).
 */
export const budgetUseKey = (accountId: string, month: string): string => `gw:budgets:{${accountId}}:${month}`;
export const budgetCallsKey = (accountId: string, month: string): string => `${budgetUseKey(accountId, month)}:calls`;

/** Hash: the owner of a running call with an idempotency key, or its result (service/idempotency/scripts.lua.ts). */
export const idempotencyClaimKey = (accountId: string, digest: string): string =>
  `gw:idempotency:{${accountId}}:${digest}`;
/** The stored replies of an account, the oldest first, and how many bytes they are together. */
export const idempotencyRepliesKey = (accountId: string): string => `gw:idempotency:{${accountId}}:replies`;
export const idempotencyBytesKey = (accountId: string): string => `gw:idempotency:{${accountId}}:bytes`;
/** How much the accounts store: each one's bytes, until when its newest reply lives, and the sum of all. */
export const idempotencySumKeys = ['bytes', 'ends', 'sum'].map((name) => `gw:{idempotency}:${name}`);

/** How an aborted call ended, since Envoy may tell another sidecar than the one of the call. `name`: receipt id or request id. */
export const callEndKey = (name: string): string => `gw:{ends}:${name}`;
/** Lifetime of that entry, s. */
export const callEndTtlS = 30;

/** Channel for failed attempts of calls at other sidecars; the message is JSON. */
export const failedAttemptChannel = 'gw:attempts:failed';

/** Channel for first attempts without a reply; the message is JSON. */
export const lostAttemptChannel = 'gw:attempts:lost';

/** Channel for attempts by which a sidecar has judged a deployment; the message is JSON. */
export const judgedAttemptChannel = 'gw:attempts:judged';

/** Hash: the id of a sidecar process → a LiveReport as JSON. */
export const liveKey = 'gw:live';

/** Hash: deployment and model (`troubleField`) → a DeploymentTrouble as JSON. */
export const deploymentTroublesKey = 'gw:deployments:trouble';

/** Stream of requests that screening blocked or flagged, for the audit log. One field, `event`: a PolicyEvent as JSON. */
export const policyEventStream = 'gw:policy:events';
export const policyEventGroup = 'audit';
/** Events that cannot be stored, kept for inspection: the original `event`, and `reason`. */
export const deadPolicyEventStream = '{gw:policy:events}:dead';

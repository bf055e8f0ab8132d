/** Every key that the parts share in Redis, in one place. Hash tags keep one account's keys on one node. */

/** Snapshot as JSON, and its version for the poll. */
export const snapshotKey = 'gw:snapshot';
export const snapshotVersionKey = 'gw:snapshot:version';
/** Published to when a new snapshot is there; the message is the version. */
export const snapshotChannel = 'gw:snapshot:changed';

/** Counts every change of a key or an account; the poll compares it. */
export const keyGenerationKey = 'gw:keys:generation';
/** Published to on a change; the message is the key's public id, or `account:<id>` for all keys of an account. */
export const keyChangedChannel = 'gw:keys:changed';
const accountPrefix = 'account:';
export const accountMessage = (accountId: string): string => `${accountPrefix}${accountId}`;
/** Null: the message is the id of a key. */
export const accountOfMessage = (message: string): string | null =>
  message.startsWith(accountPrefix) ? message.slice(accountPrefix.length) : null;

/** Set of the ids of keys that were used on a UTC day (`2026-11-21`), until a job has written them to Postgres. */
export const usedKeysKey = (day: string): string => `gw:keys:used:${day}`;
/** Hash of one UTC minute (its number since 1970): `<key id or -> <code>` → failed verifications. */
export const failedKeysKey = (minute: number): string => `gw:keys:failed:${minute}`;
/** Set of the minutes that have such a hash, and set of the hashes that a job has taken over to write them down. */
export const failedMinutesKey = 'gw:keys:failed';
export const takenFailuresKey = 'gw:keys:failed:taken';

/** Stream of finished receipts, to be ingested. One field, `entry`, a LedgerEntry as JSON. */
export const ledgerStream = 'gw:ledger';
export const ledgerGroup = 'ingest';
/** Entries that can never be ingested, kept for a human: `entry` as it came, and `reason`. */
export const deadLedgerStream = 'gw:ledger:dead';

/** Tells an emptied Redis from the one before it, for one stream; the hash tag puts it on the node of the stream. */
export const streamEpochKey = (stream: string): string => `{${stream}}:epoch`;

/** Written by who asks whether Redis takes writes again. */
export const ledgerProbeKey = 'gw:ledger:probe';

/** A LedgerEntry as JSON while Postgres may not have it yet. */
export const receiptKey = (receiptId: string): string => `gw:receipt:${receiptId}`;
/** How long Redis answers for a receipt, seconds; far longer than the ingester needs. */
export const receiptTtlS = 3600;
/** Sorted set of receipts under way: member = receipt id, score = when its holder counts as dead (ms since 1970). */
export const pendingReceiptsKey = 'gw:receipts:pending';
/** How long a holder may be silent before its pending receipts are closed as degraded. */
export const pendingLeaseMs = 30_000;

/** One hash tag per account: bucket and day counter are decided in one script. */
export const limitKey = (accountId: string, kind: string): string => `gw:limit:{${accountId}}:${kind}`;

/**
 * Sorted sets of the open streams of an account, and of one of its keys: member = slot, score = when its lease ends (ms
 * since 1970, by Redis' clock).
 */
export const slotsKey = (accountId: string): string => `gw:slots:{${accountId}}`;
export const keySlotsKey = (accountId: string, keyId: string): string => `gw:slots:{${accountId}}:${keyId}`;

/**
 * What an account has used of its budgets in a UTC month, and the calls whose receipts the sums of Postgres do not have yet
 * (service/budgets/scripts.lua.ts).
 */
export const budgetUseKey = (accountId: string, month: string): string => `gw:budgets:{${accountId}}:${month}`;
export const budgetCallsKey = (accountId: string, month: string): string => `${budgetUseKey(accountId, month)}:calls`;

/** Hash: who runs the call with one idempotency key, or what came of it (service/idempotency/scripts.lua.ts). */
export const idempotencyClaimKey = (accountId: string, digest: string): string =>
  `gw:idempotency:{${accountId}}:${digest}`;
/** How many bytes of replies of an account were stored since this counter began; it goes after a day. */
export const idempotencyBytesKey = (accountId: string): string => `gw:idempotency:{${accountId}}:bytes`;

/** How a broken-off call ended, for the sidecar that asks: Envoy tells any one of them. `name`: the id of its receipt, or of its request. */
export const callEndKey = (name: string): string => `gw:end:${name}`;
/** How long it is kept, s. */
export const callEndTtlS = 30;

/** Published to with a failed attempt of a call that is under way at another sidecar; the message is JSON. */
export const failedAttemptChannel = 'gw:attempts:failed';

/** Published to with a first attempt that got no reply; the message is JSON. */
export const lostAttemptChannel = 'gw:attempts:lost';

/** Hash: an id that each sidecar makes at its start → a LiveReport as JSON. */
export const liveKey = 'gw:live';

/** Hash: deployment and model (`troubleField`) → a DeploymentTrouble as JSON. */
export const deploymentTroublesKey = 'gw:deployments:trouble';

/** Stream of what screening blocked or flagged, for the audit log. One field, `event`, a PolicyEvent as JSON. */
export const policyEventStream = 'gw:policy:events';
export const policyEventGroup = 'audit';
/** Events that can never be written down, kept for a human: `event` as it came, and `reason`. */
export const deadPolicyEventStream = 'gw:policy:events:dead';

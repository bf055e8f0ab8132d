/** The secrets of one installation: made once, then kept, so that keys stay valid over restarts. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writePrivateJson } from './private-file.ts';

const shape = {
  /** Server-side part of the key hash, 64 hexadecimal digits. */
  pepper: z.string().regex(/^[0-9a-f]{64}$/),
  /** Seals the receipts that are stored, 64 hexadecimal digits. */
  ledgerKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Seals entries on their way from the sidecars to the ledger, 64 hexadecimal digits. */
  entryKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Signs what ext-authz states of the calls that ended, 64 hexadecimal digits. */
  witnessKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Encrypts the credentials of providers, 64 hexadecimal digits. */
  credentialsKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Encrypts the replies that are kept for idempotency keys, 64 hexadecimal digits. */
  idempotencyKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Signs evidence packs: the seed of an Ed25519 key, 64 hexadecimal digits. */
  evidenceKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** Wraps the keys that names of people and accounts are encrypted with, 64 hexadecimal digits. */
  namesKey: z.string().regex(/^[0-9a-f]{64}$/),
  /** With which each part connects to Valkey, and whoever owns it. */
  valkeyExtAuthz: z.string().min(32),
  valkeySidecar: z.string().min(32),
  valkeyControlPlane: z.string().min(32),
  valkeyOwner: z.string().min(32),
  /** Envoy shows it to each internal listener. */
  internalToken: z.string().min(32),
  /** Scripts of the first operator show it to the operator API. */
  operatorToken: z.string().regex(/^gwop_[A-Za-z0-9_-]{43}$/),
  /** With which the first operator logs in, as `admin@localhost`. */
  operatorCredential: z.string().min(20),
};
export type Secrets = Readonly<Record<keyof typeof shape, string>>;

const made: Readonly<Record<keyof Secrets, () => string>> = {
  pepper: () => randomBytes(32).toString('hex'),
  ledgerKey: () => randomBytes(32).toString('hex'),
  entryKey: () => randomBytes(32).toString('hex'),
  witnessKey: () => randomBytes(32).toString('hex'),
  credentialsKey: () => randomBytes(32).toString('hex'),
  idempotencyKey: () => randomBytes(32).toString('hex'),
  evidenceKey: () => randomBytes(32).toString('hex'),
  namesKey: () => randomBytes(32).toString('hex'),
  valkeyExtAuthz: () => randomBytes(32).toString('hex'),
  valkeySidecar: () => randomBytes(32).toString('hex'),
  valkeyControlPlane: () => randomBytes(32).toString('hex'),
  valkeyOwner: () => randomBytes(32).toString('hex'),
  internalToken: () => randomBytes(32).toString('hex'),
  operatorToken: () => `gwop_${randomBytes(32).toString('base64url')}`,
  operatorCredential: () => randomBytes(18).toString('base64url'),
};

/**
 * Only what is missing is made: another pepper would end every key, another ledger key would make every receipt look altered, and with
 * another evidence key the packs of before would be by nobody that is known.
 */
export function loadSecrets(dir: string): Secrets {
  const file = join(dir, 'secrets.json');
  const found = z.record(z.string(), z.unknown()).catch({}).parse(readJson(file));
  const names = Object.keys(shape) as (keyof Secrets)[];
  const missing = names.filter((name) => !shape[name].safeParse(found[name]).success);
  const secrets = { ...found, ...Object.fromEntries(missing.map((name) => [name, made[name]()])) } as Secrets;
  if (missing.length > 0) writePrivateJson(file, secrets);
  return secrets;
}

/** The keys that the control plane seals and signs the ledger with, and checks what the other parts bring to it. */
export const ledgerKeysOf = ({ entryKey, evidenceKey, ledgerKey, witnessKey }: Secrets) => ({
  GW_LEDGER_KEY: ledgerKey,
  GW_LEDGER_ENTRY_KEY: entryKey,
  GW_WITNESS_KEY: witnessKey,
  GW_EVIDENCE_KEY: evidenceKey,
});

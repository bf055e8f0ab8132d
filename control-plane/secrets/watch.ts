/**
 * Compares the secrets of this process with the stored data, at its start and each half minute, and says by health, metric and log which ones
 * do not fit.
 *
 * Closed where a wrong key would do lasting harm: until the key of the ledger is known to fit, this process writes no audit entry, and until
 * that of evidence is too, it does none of the ledger's work but the look for a Postgres that went back, and notes no fault: it would call
 * all that was stored forged, and seal what comes with the wrong key. Receipts wait in Redis for an instance whose keys fit. All else stays
 * open, with an alarm.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Peppers } from '@gw/contract/internal/pepper';
import type { ReplyCipher } from '@gw/service/idempotency';
import type { Logger } from '@gw/service/log';
import { Gauge, type Registry } from 'prom-client';
import type { IntegritySettings } from '../ledger/integrity/config.ts';
import type { Context } from '../shared/context.ts';
import { type RepeatedJob, repeat } from '../shared/repeat.ts';
import type { Vault } from '../shared/vault.ts';
import { comparedSecrets } from './facts.ts';
import {
  credentialsKeyFits,
  entryKeyFits,
  evidenceKeyFits,
  type Fit,
  idempotencyKeyFits,
  ledgerKeyFits,
  namesKeyFits,
  peppersFit,
  witnessKeyFits,
} from './fits.ts';

export type SecretName = keyof typeof comparedSecrets;
export const secretNames = Object.keys(comparedSecrets) as SecretName[];

/** `not_known`: the store of its data has not answered since the start. */
export type Verdict = Fit | 'not_known';

export interface SecretWatch {
  /** Compares all of them. Never rejects: what a store does not tell stays as it was. */
  refresh(): Promise<void>;
  verdicts(): readonly { readonly secret: SecretName; readonly verdict: Verdict }[];
  /** The ones that do not fit. */
  unfit(): readonly SecretName[];
  /** Whether the key of the ledger is known not to contradict what was stored. */
  mayWriteAudit(): boolean;
  /** The same of the keys of the ledger and of evidence. */
  mayWriteLedger(): boolean;
  /** Whether one of the two is known to be wrong: then other instances should be asked. */
  isClosed(): boolean;
  start(): RepeatedJob;
  register(registry: Registry): void;
}

const cure =
  'Set the secret that this data was made with, also as a previous one, and restart: docs/secrets.md has the way for each, and what is lost without it.';
/** In `degraded` and `gw_degraded`. */
const troubleName = 'secrets_unfit';
/** Without the right ones the ledger stands still. */
const closing: readonly SecretName[] = ['GW_LEDGER_KEY', 'GW_EVIDENCE_KEY'];
const pollMs = 1000;
const everyMs = 30_000;

interface Settings {
  readonly credentials: { readonly vault: Vault | null };
  readonly evidenceKey: SigningKey;
  readonly integrity: Pick<IntegritySettings, 'entryKeys' | 'keys' | 'witnessKeys'>;
  readonly nameKeys: KeyRing;
  readonly peppers: Peppers;
  readonly replyCipher: ReplyCipher;
}

export function openSecretWatch(
  context: Pick<Context, 'databases' | 'log' | 'redis' | 'troubles'>,
  settings: Settings,
): SecretWatch {
  const { databases, log, troubles } = context;
  const { credentials, evidenceKey, integrity, nameKeys, peppers, replyCipher } = settings;
  const questions: Readonly<Record<SecretName, () => Promise<Fit>>> = {
    GW_KEY_PEPPER: () => peppersFit(databases, peppers),
    GW_LEDGER_KEY: () => ledgerKeyFits(databases, integrity.keys),
    GW_LEDGER_ENTRY_KEY: () => entryKeyFits(context, integrity.entryKeys),
    GW_EVIDENCE_KEY: () => evidenceKeyFits(databases, evidenceKey),
    GW_NAMES_KEY: () => namesKeyFits(databases, nameKeys),
    GW_CREDENTIALS_KEY: () => credentialsKeyFits(databases, credentials.vault),
    GW_WITNESS_KEY: () => witnessKeyFits(databases, integrity.witnessKeys),
    GW_IDEMPOTENCY_KEY: () => idempotencyKeyFits(context, replyCipher),
  };
  const known = new Map<SecretName, Fit>();
  const compare = async (secret: SecretName): Promise<void> => {
    const before = known.get(secret);
    const found = await questions[secret]().catch(() => null);
    // Data that is gone proves nothing: what was compared with it stays said until something fits, since a key is read only at a start.
    if (found === null || (found === 'nothing_to_compare' && before !== undefined)) return;
    known.set(secret, found);
    if (found !== before) tell(log, secret, before, found);
  };
  const isHarmless = (secret: SecretName) => known.has(secret) && known.get(secret) !== 'does_not_fit';
  const unfit = () => secretNames.filter((secret) => known.get(secret) === 'does_not_fit');
  const refresh = async () => {
    await Promise.all(secretNames.map(compare));
    const wrong = unfit();
    if (wrong.length === 0) troubles.over(troubleName);
    else troubles.tell(troubleName, `These secrets do not fit the stored data: ${wrong.join(', ')}. ${cure}`);
  };

  return {
    refresh,
    verdicts: () => secretNames.map((secret) => ({ secret, verdict: known.get(secret) ?? 'not_known' })),
    unfit,
    mayWriteAudit: () => isHarmless('GW_LEDGER_KEY'),
    mayWriteLedger: () => closing.every(isHarmless),
    isClosed: () => closing.some((secret) => known.get(secret) === 'does_not_fit'),
    start: () => startComparing(log, refresh, () => known.size === secretNames.length),
    register: (registry) => registry.registerMetric(fitGauge(known)),
  };
}

function tell(log: Logger, secret: SecretName, before: Fit | undefined, found: Fit): void {
  const { compared_with } = comparedSecrets[secret];
  if (found === 'does_not_fit') log.error({ secret, compared_with, cure }, `${secret} does not fit the stored data`);
  else if (before === 'does_not_fit') log.info({ secret, compared_with }, `${secret} fits the stored data`);
}

/** Each second until all stores have answered. */
function startComparing(log: Logger, refresh: () => Promise<void>, isKnown: () => boolean): RepeatedJob {
  let dueAt = performance.now() + everyMs;
  const run = async () => {
    if (isKnown() && performance.now() < dueAt) return;
    dueAt = performance.now() + everyMs;
    await refresh();
  };
  return repeat({ name: 'comparison of secrets', everyMs: pollMs, log, run });
}

const fitGauge = (known: ReadonlyMap<SecretName, Fit>): Gauge =>
  new Gauge({
    name: 'gw_secret_fits',
    help: 'Whether a secret is the one that the stored data was made with; absent while there is nothing to compare it with',
    labelNames: ['secret'],
    registers: [],
    collect() {
      this.reset();
      for (const [secret, fit] of known) if (fit !== 'nothing_to_compare') this.set({ secret }, Number(fit === 'fits'));
    },
  });

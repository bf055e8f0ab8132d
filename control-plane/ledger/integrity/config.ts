/** The keys that seal the ledger and its entries, and how often it is checked. */
import type { SettingReader } from '@gw/contract/internal/environment';
import { type KeyRing, readKeyRing } from '@gw/contract/internal/key-ring';
import { readWitnessKeys, type WitnessKeys } from '@gw/contract/internal/witness';

export interface IntegritySettings {
  readonly keys: KeyRing;
  /** With which sidecars seal entries on their way to the ledger. */
  readonly entryKeys: KeyRing;
  /** They sign the statements of ext-authz. */
  readonly witnessKeys: WitnessKeys;
  /** How often what is new is checked. */
  readonly everyS: number;
  /** How long after the end of a full check the next one begins. */
  readonly fullS: number;
}

/** Includes those that are only accepted. */
const secretsOf = ({ current, others }: KeyRing): Buffer[] => [current, ...others].map(({ secret }) => secret);

/** Reads the settings. What is wrong with them is reported to `settings`. */
export function readIntegritySettings(settings: SettingReader): IntegritySettings {
  const keys = readKeyRing(settings, {
    key: 'GW_LEDGER_KEY',
    id: 'GW_LEDGER_KEY_ID',
    previous: 'GW_LEDGER_KEYS_PREVIOUS',
  });
  const entryKeys = readKeyRing(settings, {
    key: 'GW_LEDGER_ENTRY_KEY',
    id: 'GW_LEDGER_ENTRY_KEY_ID',
    previous: 'GW_LEDGER_ENTRY_KEYS_PREVIOUS',
  });
  const witnessKeys = readWitnessKeys(settings);
  // Whoever may seal an entry must not be able to seal a row, nor to count calls; and the other way round. Keys of before count as well.
  const parts: readonly (readonly [name: string, secrets: readonly Buffer[]])[] = [
    ['GW_LEDGER_KEY', secretsOf(keys)],
    ['GW_LEDGER_ENTRY_KEY', secretsOf(entryKeys)],
    [
      'GW_WITNESS_KEY',
      witnessKeys.previous === null ? [witnessKeys.current] : [witnessKeys.current, witnessKeys.previous],
    ],
  ];
  for (const [at, [name, secrets]] of parts.entries())
    for (const [other, theirs] of parts.slice(0, at))
      if (secrets.some((secret) => secret.length > 0 && theirs.some((their) => secret.equals(their))))
        settings.problem(`${name} is the same as ${other}. Example: another one from: openssl rand -hex 32`);
  const everyS = settings.integer('GW_INTEGRITY_CHECK_S', 60);
  const fullS = settings.integer('GW_INTEGRITY_FULL_CHECK_S', 3600);
  if (everyS < 1 || fullS < 1)
    settings.problem(
      'GW_INTEGRITY_CHECK_S and GW_INTEGRITY_FULL_CHECK_S are 1 at least. Example: GW_INTEGRITY_CHECK_S=60',
    );
  return { keys, entryKeys, witnessKeys, everyS, fullS };
}

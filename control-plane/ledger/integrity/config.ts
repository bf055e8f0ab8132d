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
  // Whoever may seal an entry must not be able to seal a row.
  if (entryKeys.current.secret.length > 0 && entryKeys.current.secret.equals(keys.current.secret))
    settings.problem('GW_LEDGER_ENTRY_KEY is that of GW_LEDGER_KEY. Example: another one from: openssl rand -hex 32');
  const everyS = settings.integer('GW_INTEGRITY_CHECK_S', 60);
  const fullS = settings.integer('GW_INTEGRITY_FULL_CHECK_S', 3600);
  if (everyS < 1 || fullS < 1)
    settings.problem(
      'GW_INTEGRITY_CHECK_S and GW_INTEGRITY_FULL_CHECK_S are 1 at least. Example: GW_INTEGRITY_CHECK_S=60',
    );
  return { keys, entryKeys, witnessKeys: readWitnessKeys(settings), everyS, fullS };
}

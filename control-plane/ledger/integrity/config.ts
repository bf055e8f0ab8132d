/** The keys that seal the ledger, and how often it is checked. */
import type { SettingReader } from '@gw/contract/internal/environment';
import type { LedgerKey, LedgerKeys } from '../receipts/seal.ts';

export interface IntegritySettings {
  readonly keys: LedgerKeys;
  /** How often what is new is checked. */
  readonly everyS: number;
  /** How long after the end of a full check the next one begins. */
  readonly fullS: number;
}

const form = /^[0-9a-f]{64}$/i;
const example = '<64 hex digits, e.g. from: openssl rand -hex 32>';

/** Reads the settings. What is wrong with them is reported to `settings`. */
export function readIntegritySettings(settings: SettingReader): IntegritySettings {
  const secret = Buffer.from(settings.secret('GW_LEDGER_KEY', form, example), 'hex');
  const current = { id: settings.integer('GW_LEDGER_KEY_ID', 1), secret };
  const others = readOthers(settings);
  const ids = [current, ...others].map(({ id }) => id);
  if (ids.some((id) => id < 1 || id > 32_767) || new Set(ids).size < ids.length)
    settings.problem(
      'GW_LEDGER_KEY_ID and the numbers in GW_LEDGER_KEYS_PREVIOUS are not from 1 to 32767, each once. Example: GW_LEDGER_KEY_ID=2',
    );
  const everyS = settings.integer('GW_INTEGRITY_CHECK_S', 60);
  const fullS = settings.integer('GW_INTEGRITY_FULL_CHECK_S', 3600);
  if (everyS < 1 || fullS < 1)
    settings.problem(
      'GW_INTEGRITY_CHECK_S and GW_INTEGRITY_FULL_CHECK_S are 1 at least. Example: GW_INTEGRITY_CHECK_S=60',
    );
  return { keys: { current, others }, everyS, fullS };
}

/** Reads the keys that older rows are sealed with, as `1:<key>,2:<key>`. */
function readOthers(settings: SettingReader): LedgerKey[] {
  const text = settings.optional('GW_LEDGER_KEYS_PREVIOUS', '');
  if (text === '') return [];
  return text.split(',').map((part) => {
    const [, id, key] = /^\s*(\d{1,5}):([0-9a-f]{64})\s*$/i.exec(part) ?? [];
    if (id === undefined || key === undefined)
      settings.problem(
        `GW_LEDGER_KEYS_PREVIOUS does not have the right form. Example: GW_LEDGER_KEYS_PREVIOUS=1:${example}`,
      );
    return { id: Number(id), secret: Buffer.from(key ?? '', 'hex') };
  });
}

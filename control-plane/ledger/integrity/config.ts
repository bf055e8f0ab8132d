/** The keys that seal the ledger, and how often it is checked. */
import type { SettingReader } from '@gw/contract/internal/environment';
import type { LedgerKey, LedgerKeys } from '../receipts/seal.ts';

export interface IntegritySettings {
  readonly keys: LedgerKeys;
  /**
   * Receipts of calls before this time can be without a seal; null means that none can. It is a setting, because
   * whoever owns the database could move it there.
   */
  readonly sealedSince: Date | null;
  /** Whether new rows are compressed, which releases before this one cannot read. */
  readonly compresses: boolean;
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
  const sealedSince = readTime(settings);
  const rows = settings.optional('GW_LEDGER_ROWS', 'whole');
  if (rows !== 'whole' && rows !== 'compressed')
    settings.problem('GW_LEDGER_ROWS is neither whole nor compressed. Example: GW_LEDGER_ROWS=compressed');
  const everyS = settings.integer('GW_INTEGRITY_CHECK_S', 60);
  const fullS = settings.integer('GW_INTEGRITY_FULL_CHECK_S', 3600);
  if (everyS < 1 || fullS < 1)
    settings.problem(
      'GW_INTEGRITY_CHECK_S and GW_INTEGRITY_FULL_CHECK_S are 1 at least. Example: GW_INTEGRITY_CHECK_S=60',
    );
  return { keys: { current, others }, sealedSince, compresses: rows === 'compressed', everyS, fullS };
}

const utcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;
/** Clocks of two machines may differ. */
const toleratedMs = 300_000;

function readTime(settings: SettingReader): Date | null {
  const text = settings.optional('GW_LEDGER_SEALED_SINCE', '');
  if (text === '') return null;
  const at = utcTime.test(text) ? Date.parse(text) : Number.NaN;
  if (!(at <= Date.now() + toleratedMs))
    settings.problem(
      'GW_LEDGER_SEALED_SINCE is no time in UTC, or it is still to come. Example: GW_LEDGER_SEALED_SINCE=2026-01-31T09:00:00Z',
    );
  return new Date(at);
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

/**
 * Which lists names are screened against. `GW_SANCTIONS_FILES` is a comma-separated list of `path=format`, with an optional
 * `:least` number of entries below which a list counts as incomplete:
 *
 *   GW_SANCTIONS_FILES=/lists/sdn.csv=ofac-csv:15000,/lists/eu.xml=eu-xml:5000
 *
 * Invariant: without a list nobody is cleared. The built-in list of invented names is only used where it is asked for by
 * name, as a trial installation does: `GW_SANCTIONS_FILES=synthetic`.
 */
import type { SettingReader } from '@gw/contract/internal/environment';

export const listFormats = ['ofac-csv', 'ofac-xml', 'eu-csv', 'eu-xml', 'names-csv'] as const;
export type ListFormat = (typeof listFormats)[number];

export interface ListFile {
  readonly path: string;
  readonly format: ListFormat;
  /** A list of fewer entries is not whole. */
  readonly leastEntries: number;
}

export interface ScreeningSettings {
  readonly lists: readonly ListFile[];
  /** Also the built-in list of invented names. */
  readonly synthetic: boolean;
  /** From this score on two names count as the same, 0 to 1. */
  readonly threshold: number;
  /** JSON in the form of use-policy.json; null: the built-in policy. */
  readonly policyFile: string | null;
  /** Days without a step after which an application expires. */
  readonly idleDays: number;
}

export const defaultThreshold = 0.85;

export const noLists: ScreeningSettings = {
  lists: [],
  synthetic: false,
  threshold: defaultThreshold,
  policyFile: null,
  idleDays: 30,
};

const example = 'GW_SANCTIONS_FILES=/lists/sdn.csv=ofac-csv:15000,/lists/eu.xml=eu-xml:5000';

export function readScreeningSettings(settings: SettingReader): ScreeningSettings {
  const parts = settings.optional('GW_SANCTIONS_FILES', '').split(',').filter(Boolean);
  const lists = parts.filter((part) => part !== 'synthetic').flatMap((part) => readListFile(settings, part));
  const percent = settings.integer('GW_SANCTIONS_THRESHOLD_PERCENT', 100 * defaultThreshold);
  // Below this every second name is a match, above it no typing error is forgiven.
  if (percent < 70 || percent > 100)
    settings.problem(
      'GW_SANCTIONS_THRESHOLD_PERCENT is not from 70 to 100. Example: GW_SANCTIONS_THRESHOLD_PERCENT=85',
    );
  const idleDays = settings.integer('GW_ONBOARDING_IDLE_DAYS', 30);
  if (idleDays < 1) settings.problem('GW_ONBOARDING_IDLE_DAYS is less than 1. Example: GW_ONBOARDING_IDLE_DAYS=30');
  return {
    lists,
    synthetic: parts.includes('synthetic'),
    threshold: percent / 100,
    policyFile: settings.optional('GW_USE_POLICY_FILE', '') || null,
    idleDays,
  };
}

function readListFile(settings: SettingReader, part: string): readonly ListFile[] {
  const [, path, name, least] = /^(.+)=([a-z-]+)(?::(\d{1,9}))?$/.exec(part.trim()) ?? [];
  const format = listFormats.find((each) => each === name);
  if (path !== undefined && format !== undefined) return [{ path, format, leastEntries: Number(least ?? 1) }];
  settings.problem(
    `GW_SANCTIONS_FILES has an entry that is not path=format with one of ${listFormats.join(', ')}. Example: ${example}`,
  );
  return [];
}

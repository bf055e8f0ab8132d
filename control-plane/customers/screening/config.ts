/**
 * Which lists names are screened against. `GW_SANCTIONS_FILES` is a comma-separated list of
 * `path=format:entries/names`, with the least numbers of entries and of names (aliases included) below which a list
 * counts as incomplete:
 *
 *   GW_SANCTIONS_FILES=/lists/sdn.csv=ofac-csv:15000/30000,/lists/eu.xml=eu-xml
 *
 * Invariant: without a list nobody is cleared. A form without an end mark, in which a list that was cut looks whole, is
 * not taken without both numbers. The built-in list of invented names is only used where it is asked for by
 * name, as a trial installation does: `GW_SANCTIONS_FILES=synthetic`.
 */
import { readList, type SettingReader } from '@gw/contract/internal/environment';

export const listFormats = ['ofac-csv', 'ofac-xml', 'eu-csv', 'eu-xml', 'names-csv'] as const;
export type ListFormat = (typeof listFormats)[number];
const withoutEndMark: readonly ListFormat[] = ['ofac-csv', 'eu-csv'];

/** One list of `GW_SANCTIONS_FILES`. A list that is not whole is a ListError. */
export interface ListFile {
  readonly path: string;
  readonly format: ListFormat;
  /** A list with fewer entries is not whole. */
  readonly leastEntries: number;
  /** A list with fewer names, in all its files together, is not whole. */
  readonly leastNames: number;
}

export interface ScreeningSettings {
  readonly lists: readonly ListFile[];
  /** Whether the built-in list of invented names is used too. */
  readonly synthetic: boolean;
  /** The score, 0 to 1, from which on two names count as the same. */
  readonly threshold: number;
  /** A JSON file in the form of use-policy.json; null means the built-in policy. */
  readonly policyFile: string | null;
  /** Days without a step after which an application expires. */
  readonly idleDays: number;
}

/** The threshold of similarity, 0 to 1, unless `GW_SANCTIONS_THRESHOLD_PERCENT` is set. */
export const defaultThreshold = 0.85;

/** Settings without any list, with which nobody is cleared. */
export const noLists: ScreeningSettings = {
  lists: [],
  synthetic: false,
  threshold: defaultThreshold,
  policyFile: null,
  idleDays: 30,
};

const example = 'GW_SANCTIONS_FILES=/lists/sdn.csv=ofac-csv:15000/30000,/lists/eu.xml=eu-xml';

/** Reads the settings. What is wrong with them is reported to `settings`, and no list is opened yet. */
export function readScreeningSettings(settings: SettingReader): ScreeningSettings {
  const parts = readList(settings, 'GW_SANCTIONS_FILES');
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
  const [, path, name, entries, names] =
    /^(.+)=([a-z-]+)(?::([1-9]\d{0,8})(?:\/([1-9]\d{0,8}))?)?$/.exec(part.trim()) ?? [];
  const format = listFormats.find((each) => each === name);
  if (path === undefined || format === undefined) {
    const forms = listFormats.join(', ');
    settings.problem(
      `GW_SANCTIONS_FILES has an entry that is not path=format:entries/names with one of ${forms}. Example: ${example}`,
    );
    return [];
  }
  if (withoutEndMark.includes(format) && names === undefined)
    settings.problem(
      `GW_SANCTIONS_FILES has a list in ${format} without its least numbers of entries and names: cut, it would look whole. Example: ${example}`,
    );
  return [{ path, format, leastEntries: Number(entries ?? 1), leastNames: Number(names ?? 1) }];
}

/**
 * The server-side part of key hashes, kept outside the database.
 *
 * There can be two, so that a pepper can be rotated while keys stay valid: new hashes use the current one, and a key is verified
 * with the version stored next to its hash.
 */
import type { SettingReader } from './environment.ts';

export interface Pepper {
  /** Rises with each new pepper; stored with each hash. */
  readonly version: number;
  readonly secret: Buffer;
}

export interface Peppers {
  readonly current: Pepper;
  readonly other: Pepper | null;
}

export const pepperOf = ({ current, other }: Peppers, version: number): Pepper | null =>
  current.version === version ? current : other?.version === version ? other : null;

/** Whether the pepper of this version was removed. An unknown higher version belongs to an instance with newer settings. */
export const isRetired = (peppers: Peppers, version: number): boolean =>
  pepperOf(peppers, version) === null &&
  [peppers.current, peppers.other].some((known) => known && version < known.version);

export function readPeppers(settings: SettingReader): Peppers {
  const current = readPepper(settings, 'GW_KEY_PEPPER', 1);
  if (!settings.optional('GW_KEY_PEPPER_PREVIOUS', '')) return { current, other: null };
  const other = readPepper(settings, 'GW_KEY_PEPPER_PREVIOUS', Math.max(1, current.version - 1));
  if (other.version === current.version)
    settings.problem(
      'GW_KEY_PEPPER_PREVIOUS_VERSION is that of the current pepper. Example: GW_KEY_PEPPER_VERSION=2 and GW_KEY_PEPPER_PREVIOUS_VERSION=1',
    );
  return { current, other };
}

function readPepper(settings: SettingReader, name: string, fallback: number): Pepper {
  const secret = settings.hexKey(name);
  const version = settings.integer(`${name}_VERSION`, fallback);
  if (version < 1 || version > 32_767) settings.problem(`${name}_VERSION is not from 1 to 32767. Example: 1`);
  return { version, secret };
}

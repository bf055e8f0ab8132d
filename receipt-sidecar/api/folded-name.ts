/**
 * The name of a field as a server that is not particular reads it: Go's decoder takes `MODELS`, and `modelſ`, for
 * `models`, and others take `apiBase`, `api-base` and `api_base ` for `api_base`.
 *
 * Invariant: whatever decides by the name of a field what a provider may get compares folded names, so that another
 * spelling is no way round it.
 */

/** Longest name that can be one of those that are looked for; a longer one is not read. */
const longestName = 64;

/** Returns only the letters and digits of a name, all small; empty for a name of more than 64 characters. */
export function foldedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed.length > longestName) return '';
  return trimmed
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}

/** Returns the words of a name with `_` between them, for names that are known by their beginnings. */
export const snakeName = (name: string): string =>
  name
    .trim()
    .slice(0, longestName + 1)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '');

/**
 * Compares names with every entry of the configured lists.
 *
 * Invariant: `clear` means that each name was compared with each name of every list that is in letters which can be
 * compared (the others are counted in the result), and that each list was whole. Anything else is a match, or a
 * ListError: then nothing is known, and nobody is cleared.
 *
 * Each list passes by once and is not kept, so the memory is that of the names, whatever the list's length; and the
 * lists are those of this moment.
 */
import type { ListFile, ScreeningSettings } from './config.ts';
import { readEuCsv, readEuXml } from './eu.ts';
import { type ListContent, ListError, type OnName } from './list-stream.ts';
import { foldLookalikes, isComparable, mixesScripts, normaliseName } from './normalise.ts';
import { readOfacCsv, readOfacXml } from './ofac.ts';
import { nameSimilarity } from './similarity.ts';
import { readNamesCsv, readSynthetic } from './synthetic-list.ts';

export interface NameToScreen {
  /** Whose name it is: `organisation`, `billing_contact`, `technical_contact`. */
  readonly role: string;
  readonly name: string;
}

/** An entry of a list that one of the names matches. */
export interface NameMatch {
  readonly role: string;
  readonly list: string;
  readonly entry_id: string;
  readonly listed_name: string;
  /** The result of `nameSimilarity`, 0 to 1, to three decimals. */
  readonly score: number;
}

/** Which version of a list was read. */
export interface ListVersion extends ListContent {
  readonly list: string;
  readonly format: string;
  /** Names of the list in scripts that cannot be compared with Latin ones. */
  readonly not_comparable_names: number;
}

/** The result of comparing the names. A name that cannot be compared is a `match` too. */
export interface NameScreening {
  readonly outcome: 'clear' | 'match';
  readonly threshold: number;
  /** At most 20, the highest scores first; `match_count` says how many there are. */
  readonly matches: readonly NameMatch[];
  readonly match_count: number;
  /** The roles whose names have a match, even if it is not among the 20. */
  readonly matched: readonly string[];
  /**
   * The roles whose names mix scripts, or are in one that cannot be compared with Latin: people have to look at them.
   */
  readonly not_comparable: readonly string[];
  readonly lists: readonly ListVersion[];
}

const mostMatches = 20;
/** Longer than any name on a list, so that a longer one means that records have run together. */
const longestName = 1000;

const readers: Readonly<Record<ListFile['format'], (path: string, onName: OnName) => Promise<ListContent>>> = {
  'ofac-csv': readOfacCsv,
  'ofac-xml': readOfacXml,
  'eu-csv': readEuCsv,
  'eu-xml': readEuXml,
  'names-csv': readNamesCsv,
};

interface List {
  readonly name: string;
  readonly format: string;
  readonly leastEntries: number;
  readonly leastNames: number;
  read(onName: OnName): Promise<ListContent>;
}

/** Throws a ListError if no list is configured, or if one is missing or not whole. */
export async function screenNames(
  names: readonly NameToScreen[],
  settings: Pick<ScreeningSettings, 'lists' | 'synthetic' | 'threshold'>,
): Promise<NameScreening> {
  const { threshold } = settings;
  const asked = names.map(({ role, name }) => ({ role, name, forms: formsOf(name) }));
  const best = new Map<string, NameMatch>();
  const versions: ListVersion[] = [];
  for (const list of listsOf(settings)) {
    let notComparableNames = 0;
    const content = await list.read(({ entryId, name }) => {
      if (name.length > longestName) throw new ListError('has a name that is too long');
      const forms = formsOf(name);
      if (!forms.every(isComparable)) notComparableNames += 1;
      for (const { role, forms: own } of asked) {
        const score = bestSimilarity(own, forms);
        const key = `${role}\n${list.name}\n${entryId}`;
        const former = best.get(key);
        if (score < threshold || (former && score <= former.score)) continue;
        best.set(key, { role, list: list.name, entry_id: entryId, listed_name: name.slice(0, 200), score });
      }
    });
    checkNumbers(list, content);
    versions.push({ list: list.name, format: list.format, ...content, not_comparable_names: notComparableNames });
  }
  if (versions.length === 0) throw new ListError('no list is configured: set GW_SANCTIONS_FILES');
  const matches = [...best.values()].sort((a, b) => b.score - a.score);
  const notComparable = asked
    .filter(({ forms, name }) => mixesScripts(name) || !forms.every(isComparable))
    .map(({ role }) => role);
  return {
    outcome: matches.length > 0 || notComparable.length > 0 ? 'match' : 'clear',
    threshold,
    matches: matches.slice(0, mostMatches).map((match) => ({ ...match, score: Math.round(match.score * 1000) / 1000 })),
    match_count: matches.length,
    matched: [...new Set(matches.map(({ role }) => role))].sort(),
    not_comparable: notComparable,
    lists: versions,
  };
}

type Forms = readonly (readonly string[])[];

/** Returns the words of a name by the sound of its letters, and also by their shape if that differs. */
function formsOf(name: string): Forms {
  const folded = foldLookalikes(name);
  return folded === name ? [normaliseName(name)] : [normaliseName(name), normaliseName(folded)];
}

const bestSimilarity = (ours: Forms, theirs: Forms): number =>
  Math.max(...ours.flatMap((own) => theirs.map((listed) => nameSimilarity(own, listed))));

function checkNumbers({ name, leastEntries, leastNames }: List, { entries, files }: ListContent): void {
  const names = files.reduce((sum, file) => sum + file.names, 0);
  for (const [what, has, least] of [
    ['entries', entries, leastEntries],
    ['names', names, leastNames],
  ] as const)
    if (has < least) throw new ListError(`${name} has ${has} ${what}, fewer than the ${least} that it must have`);
}

function listsOf({ lists, synthetic }: Pick<ScreeningSettings, 'lists' | 'synthetic'>): readonly List[] {
  const files = lists.map(({ path, format, leastEntries, leastNames }) => ({
    name: path,
    format,
    leastEntries,
    leastNames,
    read: (onName: OnName) => readers[format](path, onName),
  }));
  return synthetic
    ? [...files, { name: 'synthetic', format: 'names-csv', leastEntries: 1, leastNames: 1, read: readSynthetic }]
    : files;
}

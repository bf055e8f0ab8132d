/**
 * Compares names with every entry of the configured lists.
 *
 * Invariant: `clear` means that each name was compared with each name of every list, and that each list was whole.
 * Anything else is a match, or a ListFault: then nothing is known, and nobody is cleared.
 *
 * Each list passes by once and is not kept, so the memory is that of the names, whatever the list's length; and the
 * lists are those of this moment.
 */
import type { ListFile, ScreeningSettings } from './config.ts';
import { readEuCsv, readEuXml } from './eu.ts';
import { type ListContent, ListFault, type OnName } from './list-stream.ts';
import { isComparable, normaliseName } from './normalise.ts';
import { readOfacCsv, readOfacXml } from './ofac.ts';
import { nameSimilarity } from './similarity.ts';
import { readNamesCsv, readSynthetic } from './synthetic-list.ts';

export interface NameToScreen {
  /** Whose name it is: `organisation`, `billing_contact`, `technical_contact`. */
  readonly role: string;
  readonly name: string;
}

export interface NameMatch {
  readonly role: string;
  readonly list: string;
  readonly entry_id: string;
  readonly listed_name: string;
  /** From `nameSimilarity`, three decimals. */
  readonly score: number;
}

export interface ListVersion extends ListContent {
  readonly list: string;
  readonly format: string;
}

export interface NameScreening {
  readonly outcome: 'clear' | 'match';
  readonly threshold: number;
  /** The highest scores first; at most 20, `match_count` has their number. */
  readonly matches: readonly NameMatch[];
  readonly match_count: number;
  /** Whose names are in a script that can not be compared with Latin names: for people to look at. */
  readonly not_comparable: readonly string[];
  readonly lists: readonly ListVersion[];
}

const mostMatches = 20;

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
  read(onName: OnName): Promise<ListContent>;
}

/** Throws a ListFault if there is no list, or one is not whole. */
export async function screenNames(
  names: readonly NameToScreen[],
  settings: Pick<ScreeningSettings, 'lists' | 'synthetic' | 'threshold'>,
): Promise<NameScreening> {
  const { threshold } = settings;
  const asked = names.map(({ role, name }) => ({ role, words: normaliseName(name) }));
  const best = new Map<string, NameMatch>();
  const versions: ListVersion[] = [];
  for (const list of listsOf(settings)) {
    const content = await list.read(({ entryId, name }) => {
      const words = normaliseName(name);
      for (const { role, words: own } of asked) {
        const score = nameSimilarity(own, words);
        const key = `${role}\n${list.name}\n${entryId}`;
        if (score < threshold || score <= (best.get(key)?.score ?? 0)) continue;
        best.set(key, { role, list: list.name, entry_id: entryId, listed_name: name.slice(0, 200), score });
      }
    });
    if (content.entries < list.leastEntries)
      throw new ListFault(
        `${list.name} has ${content.entries} entries, fewer than the ${list.leastEntries} that it must have`,
      );
    versions.push({ list: list.name, format: list.format, ...content });
  }
  if (versions.length === 0) throw new ListFault('no list is configured: set GW_SANCTIONS_FILES');
  const matches = [...best.values()].sort((a, b) => b.score - a.score);
  const notComparable = asked.filter(({ words }) => !isComparable(words)).map(({ role }) => role);
  return {
    outcome: matches.length > 0 || notComparable.length > 0 ? 'match' : 'clear',
    threshold,
    matches: matches.slice(0, mostMatches).map((match) => ({ ...match, score: Math.round(match.score * 1000) / 1000 })),
    match_count: matches.length,
    not_comparable: notComparable,
    lists: versions,
  };
}

function listsOf({ lists, synthetic }: Pick<ScreeningSettings, 'lists' | 'synthetic'>): readonly List[] {
  const files = lists.map(({ path, format, leastEntries }) => ({
    name: path,
    format,
    leastEntries,
    read: (onName: OnName) => readers[format](path, onName),
  }));
  return synthetic
    ? [...files, { name: 'synthetic', format: 'names-csv', leastEntries: 1, read: readSynthetic }]
    : files;
}

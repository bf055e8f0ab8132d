/**
 * Names the variables that have no effect, so that a misspelt or misplaced setting is not its default in silence.
 *
 * Invariant: a sentence has the name of a variable and never its value, which can be a secret.
 */
import { elementAt } from './defined.ts';
import {
  isCredential,
  isOfKubernetes,
  isOfTests,
  type SettingReaderName,
  settingReaders,
  settingsOf,
  settingsOfCommands,
} from './settings.ts';
import { reasonAgainstUp } from './settings-of-up.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const known = new Set([...Object.values(settingsOf).flat(), ...settingsOfCommands]);

const given = (environment: Environment): string[] =>
  Object.keys(environment)
    .filter((name) => name.startsWith('GW_') && environment[name] && !isOfTests(name) && !isOfKubernetes(name))
    .sort();

/**
 * Returns a sentence for each variable that has no effect in the program `reader`. `asked` are the names that it has read: a setting that
 * it reads only together with another one has no effect without that one.
 */
export const ignoredSettings = (
  environment: Environment,
  reader: SettingReaderName,
  asked: ReadonlySet<string>,
): string[] =>
  given(environment).flatMap((name) => {
    if (asked.has(name) || (reader === 'control-plane' && isCredential(name))) return [];
    if (settingsOf[reader].includes(name))
      return [`${name} has no effect: the setting that it belongs to is not set, or has another value.`];
    return [unknownSetting(name) ?? `${name} has no effect here: it is a setting of ${readersOf(name)}.`];
  });

/** Returns a sentence for each variable that `./gw up` does not pass on. */
export const ignoredByUp = (environment: Environment): string[] =>
  given(environment).flatMap((name) => {
    if (isCredential(name) || settingsOfCommands.includes(name)) return [];
    const reason = reasonAgainstUp(name);
    return unknownSetting(name) ?? (reason === null ? [] : `./gw up ignores ${name}: ${reason}.`);
  });

/** The programs that read a setting, for people. */
function readersOf(name: string): string {
  const readers = isCredential(name)
    ? ['control-plane']
    : settingReaders.filter((each) => settingsOf[each].includes(name));
  return readers.length > 0 ? readers.join(', ') : './gw';
}

function unknownSetting(name: string): string | null {
  if (known.has(name) || isCredential(name)) return null;
  const nearest = nearestSetting(name);
  return `${name} is not a setting and is ignored.${nearest === null ? '' : ` Did you mean ${nearest}?`}`;
}

/** Longer names are no slips of ours, and would take time. */
const longestName = 64;

/** The setting that `name` is most probably a slip of, or null if it is far from all. */
function nearestSetting(name: string): string | null {
  if (name.length > longestName) return null;
  const [best] = [...known]
    .map((each) => ({ each, edits: editsBetween(name, each) }))
    .sort((a, b) => a.edits - b.edits);
  return best && best.edits <= Math.max(2, name.length / 4) ? best.each : null;
}

/** The number of characters to insert, remove or replace (Levenshtein). */
function editsBetween(name: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...name].entries()) {
    const next = [index + 1];
    for (const [column, wanted] of [...other].entries()) {
      const replaced = elementAt(row, column) + Number(letter !== wanted);
      next.push(Math.min(elementAt(next, column) + 1, elementAt(row, column + 1) + 1, replaced));
    }
    row = next;
  }
  return elementAt(row, other.length);
}

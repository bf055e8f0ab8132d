/**
 * Takes names out of the inside of a JSON object that no provider may use there: those that are ours, where a client looks for them, and
 * `__proto__` anywhere, by which a copy of the object in JavaScript would get properties that it does not list.
 *
 * Invariant: one pass over the text, whatever is nested in it, and everything else stays as it is written.
 */
import { endOfString } from '@gw/contract/internal/escaped-names';
import { nameOf } from '@gw/contract/internal/json-members';

export const prototypeName = '__proto__';

interface Level {
  readonly isObject: boolean;
  /** Where the current member begins: behind the brace, or at the comma in front of it. */
  from: number;
  /** Whether it goes; null until its name was read. */
  goes: boolean | null;
  /** Whether a member before it stays. */
  hasKept: boolean;
}

interface Cut {
  readonly from: number;
  readonly to: number;
}

/** Returns the text without these names. It has to be the valid JSON of an object. `isOurs` judges a name. */
export function withoutInnerNames(text: string, isOurs: (name: string) => boolean): string {
  const levels: Level[] = [];
  const cuts: Cut[] = [];
  /** Ends the current member of the innermost object at `at`, a comma or a brace. */
  const end = (level: Level, at: number, isLast: boolean): void => {
    if (level.goes) {
      // It takes along all that was cut inside of it.
      while ((cuts.at(-1)?.from ?? -1) >= level.from) cuts.pop();
      cuts.push({ from: level.from, to: level.hasKept || isLast ? at : at + 1 });
    } else level.hasKept = true;
    level.goes = null;
    level.from = level.hasKept ? at : at + 1;
  };
  const hasEscapes = text.includes('\\');
  /** Whether a member goes by its name, which stands between these quotes. */
  const goes = (open: number, close: number): boolean => {
    const isNear = isReadByClients(levels);
    if (!isNear && !hasEscapes && close - open - 1 !== prototypeName.length) return false;
    const name = nameOf(text.slice(open, close + 1));
    return name === prototypeName || (isNear && isOurs(name));
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === 0x22) {
      const close = endOfString(text, at);
      if (level?.isObject && level.goes === null) level.goes = goes(at, close);
      at = close;
    } else if (code === 0x7b) levels.push({ isObject: true, from: at + 1, goes: null, hasKept: false });
    else if (code === 0x5b) levels.push({ isObject: false, from: at + 1, goes: null, hasKept: false });
    else if (code === 0x2c && level?.isObject) end(level, at, false);
    else if (code === 0x7d || code === 0x5d) {
      if (level?.isObject) end(level, at, true);
      levels.pop();
    }
  }
  return without(text, cuts);
}

/**
 * Whether the innermost object is an element of a list of the outermost one, as an answer is, or lies directly in such an element, as its
 * message does. Deeper ones can have the names of tokens.
 */
const isReadByClients = (levels: readonly Level[]): boolean =>
  (levels.length === 3 || levels.length === 4) && levels[1]?.isObject === false && levels[2]?.isObject === true;

function without(text: string, cuts: readonly Cut[]): string {
  let kept = '';
  let at = 0;
  for (const { from, to } of cuts) {
    kept += text.slice(at, from);
    at = to;
  }
  return kept + text.slice(at);
}

/** Limits, as operators and customers read them alike. */
import type { Account, Key } from '../api/types.ts';
import { number } from './format.ts';
import { words } from './words.ts';

export function accountTokens({ per_day, per_minute }: Account['tokens']): string {
  const shown = (bound: number | null) => (bound === null ? 'those of the tier' : number(bound));
  return `${shown(per_minute)} a minute, ${shown(per_day)} a day`;
}

const names = ['per_s', 'burst', 'per_day', 'streams', 'tokens_per_minute', 'tokens_per_day'] as const;

/** Null: the key may use all that its account has. */
export const keyLimits = ({ limits }: Pick<Key, 'limits'>): string | null =>
  limits &&
  names.flatMap((name) => (limits[name] === null ? [] : `${number(limits[name])} ${words.limits[name]}`)).join(', ');

/** Pairs of APIs between which calls are translated. */
import type { Translator } from './translator.ts';

/** Returns how calls of one API (`ApiShape.name`) become calls of another; null: they cannot. */
export function translate(_from: string, _to: string): Translator | null {
  return null;
}

/**
 * Names that are written with letters of another script that look like Latin ones.
 *
 * Invariant: what looks the same on paper is compared as the same. `normaliseName` takes a letter for its sound (Cyrillic
 * `Н` is n), which is right for names that are meant in that script; `foldLookalikes` takes it for its shape (`Н` is H).
 * Both forms of a name are compared, and a word of several scripts, which no language writes, is left to people.
 */
import { latinShapes } from '@gw/policy/lookalikes';

/** The name as a Latin reader would see it. The same where it has no letter that looks like a Latin one. */
export function foldLookalikes(name: string): string {
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name)) return name;
  return name.normalize('NFKD').replace(/\P{ASCII}/gu, (letter) => latinShapes.get(letter) ?? letter);
}

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** Whether a word of the name has letters of several scripts. */
export const mixesScripts = (name: string): boolean =>
  name
    .normalize('NFKD')
    .split(/[^\p{L}\p{N}\p{M}\p{Cf}'’.]+/u)
    .some((word) => scripts.filter((script) => script.test(word)).length > 1);

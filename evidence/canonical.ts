/** The bytes that digests and signatures are over: JSON by RFC 8785. */

import canonicalize from 'canonicalize';
import { Sha256 } from '#sha256';

/** Throws for what has no such form: `undefined`, a number that is not finite. */
export function canonicalText(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('This is no JSON.');
  return text;
}

/** 64 hexadecimal digits. */
export const sha256Of = (text: string): string => new Sha256().update(text).hex();

/** Writes JSON by RFC 8785, which digests and signatures are over. */
import canonicalize from 'canonicalize';
import { Sha256 } from '#sha256';

/** Throws for a value that has no such form, such as `undefined`, a number that is not finite, or a lone surrogate. */
export function canonicalText(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('This is no JSON.');
  return text;
}

/** 64 hexadecimal digits. */
export const sha256Of = (text: string): string => new Sha256().update(text).hex();

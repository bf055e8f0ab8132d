import { saltedDigest } from '@gw/evidence/answer-digest';
import { newSalt } from '../wire/salt.ts';
import type { Parsed } from './parse.ts';

/** Adds to a request what binds its receipt to it. `bytes`: the body as its client has sent it. */
export function bound(parsed: Parsed, bytes: Uint8Array): Parsed {
  if (!parsed.ok) return parsed;
  const salt = newSalt();
  const binding = { salt, requestDigest: saltedDigest(salt, bytes) };
  return { ...parsed, value: { ...parsed.value, request: { ...parsed.value.request, binding } } };
}

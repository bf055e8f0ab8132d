/** Compares what Envoy shows with the internal token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { InternalTokens } from '@gw/contract/internal/environment';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns a function that tells whether a header has one of the tokens. It takes as long for any header. */
export function tokenTest({ internalToken, previousInternalToken = null }: InternalTokens): (sent: string) => boolean {
  const tokens = previousInternalToken === null ? [internalToken] : [internalToken, previousInternalToken];
  const expected = tokens.map((token) => digest(`Bearer ${token}`));
  return (sent) => {
    const shown = digest(sent);
    return expected.map((each) => timingSafeEqual(shown, each)).includes(true);
  };
}

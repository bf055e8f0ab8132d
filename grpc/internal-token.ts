/** The internal token, without which a call reaches no handler. */
import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Returns what makes a check for one connection: it compares in constant time until the connection has shown the right token;
 * after that a plain comparison with what it has shown tells it nothing new, and Envoy sends the same on every call.
 */
export function tokenChecks(internalToken: string): () => (sent: string | undefined) => boolean {
  const expected = digest(`Bearer ${internalToken}`);
  return () => {
    let shown: string | null = null;
    return (sent) => {
      if (sent === undefined) return false;
      if (sent === shown) return true;
      if (!timingSafeEqual(digest(sent), expected)) return false;
      shown = sent;
      return true;
    };
  };
}

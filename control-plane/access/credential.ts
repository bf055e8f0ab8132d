/**
 * Credentials that people log in with.
 *
 * Invariant: at most one argon2id hash is computed at a time in this process, and only a few wait: each takes 19 MiB and
 * holds the event loop for some 40 ms, during which nothing else is answered.
 */
import { randomBytes } from 'node:crypto';
import { argon2id, argon2Verify } from 'hash-wasm';

/** The second of the equivalent settings that OWASP's Password Storage Cheat Sheet lists; memory in KiB. */
const cost = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 };
const currentForm = `$argon2id$v=19$m=${cost.memorySize},t=${cost.iterations},p=${cost.parallelism}$`;
const maxWaiting = 16;

export const minCredentialLength = 12;
/** Longer ones would only cost time. */
export const maxCredentialLength = 256;

/** `busy`: too many wait already; nothing was computed. `outdated`: right, but hashed at another cost than today's. */
export type Verdict = 'right' | 'outdated' | 'wrong' | 'busy';

export interface Credentials {
  /** PHC form: `$argon2id$v=19$m=…`. Waits for its turn, however many do. */
  hash(credential: string): Promise<string>;
  /** `stored`: null takes the same time and is `wrong`, so that nobody learns whether a person exists. */
  verify(stored: string | null, credential: string): Promise<Verdict>;
}

export function openCredentials(): Credentials {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    waiting += 1;
    const before = last;
    const mine = before.then(afterOthers).then(work);
    last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      waiting -= 1;
    }
  };
  return {
    hash: (credential) => inTurn(() => hashOf(credential)),
    verify: async (stored, credential) => {
      if (waiting >= maxWaiting) return 'busy';
      return inTurn(() => judge(stored, credential));
    },
  };
}

async function judge(stored: string | null, credential: string): Promise<Verdict> {
  if (stored === null) {
    await hashOf(credential);
    return 'wrong';
  }
  if (!(await argon2Verify({ password: credential, hash: stored }))) return 'wrong';
  return stored.startsWith(currentForm) ? 'right' : 'outdated';
}

const hashOf = (credential: string): Promise<string> =>
  argon2id({ ...cost, password: credential, salt: randomBytes(16), outputType: 'encoded' });

/** Between two hashes everything else gets its turn. */
const afterOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** For a person who gets one from somebody else, who shall not choose it: 144 random bits, readable over a phone. */
export const generateCredential = (): string =>
  (
    randomBytes(18)
      .toString('hex')
      .match(/.{1,6}/g) ?? []
  ).join('-');

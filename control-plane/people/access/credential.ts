/**
 * Credentials that people log in with.
 *
 * Invariant: at most one argon2id hash is computed at a time, on a thread of its own, so that the event loop goes on
 * answering; each takes 19 MiB and some 40 ms. Only a few wait, and strangers never take the places of those who are
 * known.
 */
import { randomBytes } from 'node:crypto';
import { Hasher } from './hasher.ts';

/** The parameters of argon2id; memory in KiB. */
export interface HashCost {
  readonly memorySize: number;
  readonly iterations: number;
  readonly parallelism: number;
}
/** The second of the equivalent settings that OWASP's Password Storage Cheat Sheet lists. */
export const recommendedCost: HashCost = { memorySize: 19_456, iterations: 2, parallelism: 1 };
const hashLength = 32;

/** How many tasks of each kind are here at most: the one that is computed, and those that wait. */
const maxWaiting = 16;

/** Characters that a credential which a person chooses needs. */
export const minCredentialLength = 12;
/** Characters that a credential has at most: longer ones would only cost time. */
export const maxCredentialLength = 256;

/**
 * `busy`: too many others wait, and nothing was computed. `outdated`: right, but hashed at another cost than today's.
 */
export type Verdict = 'right' | 'outdated' | 'wrong' | 'busy';

/** A credential that was made for somebody, with the hash that is stored. */
export interface Issued {
  readonly credential: string;
  readonly credentialHash: string;
}

/** `known`: this person has logged in from this address before, and is served before all strangers. */
export type Caller = 'known' | 'stranger';

type Kind = Caller | 'issued';

export interface Credentials {
  /** Returns the hash in PHC form: `$argon2id$v=19$m=…`. For those just verified: it waits even if many others do. */
  hash(credential: string): Promise<string>;
  /**
   * Makes a credential, after the logins of those who are known. Null if too many others wait: nothing was computed.
   */
  issue(): Promise<Issued | null>;
  /** Null as `stored` takes the same time and gives `wrong`, so that nobody learns whether a person exists. */
  verify(stored: string | null, credential: string, caller?: Caller): Promise<Verdict>;
}

/** `cost` is that of the hashes that it makes; tests make many, and choose a small one. */
export function openCredentials(cost = recommendedCost, hasher = new Hasher()): Credentials {
  const currentForm = `$argon2id$v=19$m=${cost.memorySize},t=${cost.iterations},p=${cost.parallelism}$`;
  const queues: Record<Kind, (() => Promise<void>)[]> = { known: [], issued: [], stranger: [] };
  /** Counts who waits to be verified or issued, and the one in progress. */
  const present: Record<Kind, number> = { known: 0, issued: 0, stranger: 0 };
  let computing = false;

  const next = (): void => {
    if (computing) return;
    const task = queues.known.shift() ?? queues.issued.shift() ?? queues.stranger.shift();
    if (task === undefined) return;
    computing = true;
    void task().finally(() => {
      computing = false;
      next();
    });
  };
  const inTurn = <T>(kind: Kind, work: () => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      queues[kind].push(() => work().then(resolve, reject));
      next();
    });
  /** Null: too many of the kind are here already. */
  const unlessTooMany = async <T>(kind: Kind, work: () => Promise<T>): Promise<T | null> => {
    if (present[kind] >= maxWaiting) return null;
    present[kind] += 1;
    return inTurn(kind, work).finally(() => {
      present[kind] -= 1;
    });
  };
  const hashOf = (credential: string): Promise<string> =>
    hasher.hash({ ...cost, hashLength, password: credential, salt: randomBytes(16), outputType: 'encoded' });
  const judge = async (stored: string | null, credential: string): Promise<Verdict> => {
    if (stored === null) {
      await hashOf(credential);
      return 'wrong';
    }
    if (!(await hasher.verify({ password: credential, hash: stored }))) return 'wrong';
    return stored.startsWith(currentForm) ? 'right' : 'outdated';
  };

  return {
    hash: (credential) => inTurn('known', () => hashOf(credential)),
    issue: () =>
      unlessTooMany('issued', async () => {
        const credential = generateCredential();
        return { credential, credentialHash: await hashOf(credential) };
      }),
    verify: async (stored, credential, caller = 'stranger') =>
      (await unlessTooMany(caller, () => judge(stored, credential))) ?? 'busy',
  };
}

/** Makes a credential that one person hands to another: 144 random bits in hex, in groups that can be read aloud. */
export const generateCredential = (): string =>
  (
    randomBytes(18)
      .toString('hex')
      .match(/.{1,6}/g) ?? []
  ).join('-');

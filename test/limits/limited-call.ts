/** Calls that count, and what they say of their limits. */
import type { SharedStack } from '../whole-stack.ts';

export interface LimitedReply {
  readonly status: number;
  /** The code of a refusal. */
  readonly code: string | null;
  readonly message: string | null;
  /** A limit header by the end of its name (`remaining-day`), as a number; NaN if it is missing. */
  readonly limit: (name: string) => number;
  /** Whole seconds; null if there is none. */
  readonly retryAfter: number | null;
  readonly shouldRetry: string | null;
}

/** `path`: one that counts as a call costs least with `/v1/regions/us-east`. */
export async function ask(
  { publicUrl }: Pick<SharedStack, 'publicUrl'>,
  key: string,
  path = '/v1/regions/us-east',
): Promise<LimitedReply> {
  const response = await fetch(`${publicUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const { error } = JSON.parse(await response.text());
  const { headers, status } = response;
  const retryAfter = headers.get('retry-after');
  return {
    status,
    code: error?.code ?? null,
    message: error?.message ?? null,
    limit: (name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
    retryAfter: retryAfter === null ? null : Number(retryAfter),
    shouldRetry: headers.get('x-should-retry'),
  };
}

/** The public id, by which a key is shown and changed. */
export const idOf = (key: string): string => key.slice(3, 15);
export const accountOf = (key: string): string => `acct_test_${idOf(key)}`;

/** Seconds until midnight UTC. */
export const untilMidnightS = (): number => 86_400 - ((Date.now() / 1000) % 86_400);

/** A figure of ext-authz, or NaN; `name` with its labels, as a regular expression. */
export async function figureOf({ healthUrls }: Pick<SharedStack, 'healthUrls'>, name: string): Promise<number> {
  const text = await (await fetch(`${healthUrls['ext-authz']}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

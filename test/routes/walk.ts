/**
 * Tries requests on a gateway and judges what came of each: what the client was told, and what arrived behind Envoy.
 *
 * The proof that there is no way around: without rights the reply is the refusal that the contract names, nothing arrives;
 * and what does arrive carries exactly the identity of the caller, on a route that this caller may use.
 */

import { errorCatalogue } from '@gw/contract/error-catalogue';
import { identityHeaders, internalTokenHeader } from '@gw/contract/internal/identity';
import { type Route, routes } from '@gw/contract/routes';
import { expect } from 'vitest';
import { z } from 'zod';
import type { WireReply } from './http1-wire.ts';
import { type Header, type Meaning, meaningOf, type Request } from './request.ts';
import { type Caller, type Callers, refillAfter, toldTo } from './rights.ts';
import type { Trick } from './tricks.ts';
import type { Arrived, WatchedGateway } from './watched-gateway.ts';

/** The routes that need a scope, for `it.each`. */
export const limitedRoutes = routes
  .filter(({ scope }) => scope !== null)
  .map((route) => [`${route.method} ${route.path}`, route] as const);

/** Names the attempt in what arrives at the control plane. */
export const attemptHeader = 'x-attempt';

export interface Attempt<T = unknown> {
  readonly trick: T;
  readonly id: string;
  readonly name: string;
  readonly caller: Caller;
  readonly request: Request;
  readonly meaning: Meaning;
}

const baseRequest = (route: Route): Request => ({
  method: route.method,
  target: route.path.replace(/\{[a-z_]+\}/, 'x'),
  authority: 'gw.example',
  headers: route.method === 'POST' ? [['content-type', 'application/json']] : [],
  // No JSON: no attempt gets as far as a provider, or changes anything, even with all rights.
  body: route.method === 'POST' ? '{' : null,
});

export const headersOf = ({ caller, request, id }: Attempt): readonly Header[] => [
  ...(caller.key === null ? [] : [['authorization', `Bearer ${caller.key}`] as const]),
  [attemptHeader, id],
  ...request.headers,
];

const error = z.object({ error: z.object({ code: z.string() }) });
function codeIn(text: string): string {
  try {
    return error.parse(JSON.parse(text)).error.code;
  } catch {
    return `no error object: ${text.slice(0, 60)}`;
  }
}

/** The fault of the reply; null: none. */
export function faultOf({ caller, meaning }: Attempt, reply: WireReply | null): string | null {
  if (!reply) return 'no reply';
  const told = toldTo(caller, meaning);
  if (told) {
    const code = codeIn(reply.text);
    const isRight = reply.status === told.status && told.codes.includes(code);
    return isRight ? null : `${reply.status} ${code}, not ${told.status} ${told.codes.join(' or ')}`;
  }
  if (meaning.kind === 'route' && meaning.route.scope === null)
    return reply.status === 200 ? null : `${reply.status} from an open route`;
  if (reply.status === 200) return null;
  const code = codeIn(reply.text);
  // A parameter of the query that nobody takes is named by its code.
  const isRight = [400, 404].includes(reply.status) && (code in errorCatalogue || /^invalid_[a-z_]+$/.test(code));
  return isRight ? null : `${reply.status} ${code} with all rights`;
}

const valuesOf = ({ headers }: Arrived, name: string) =>
  headers.filter((each) => each[0] === name).map((each) => each[1]);

/** The last is Envoy's own word on who the client is. */
const known = new Set<string>([...Object.values(identityHeaders), internalTokenHeader, 'x-envoy-external-address']);

/** The fault of a request that arrived at the control plane; null: none. */
function faultOfArrival(arrival: Arrived, attempts: ReadonlyMap<string, Attempt>): string | null {
  const what = `${arrival.method} ${arrival.target}`;
  const [id = ''] = valuesOf(arrival, attemptHeader);
  const attempt = attempts.get(id);
  if (!attempt) return `${what}: nobody sent it as a request of its own (${id})`;
  const { caller } = attempt;
  const { accountId, keyId, tier, scopes } = identityHeaders;
  const identity = [accountId, keyId, tier, scopes].map((name) => valuesOf(arrival, name).join(' & '));
  const right = [caller.accountId, caller.key?.slice(3, 15), 'enterprise', caller.scopes.join(' ')];
  if (identity.join() !== right.join()) return `${what}: the identity ${identity.join()} and not ${right.join()}`;
  if (valuesOf(arrival, internalTokenHeader).length !== 1) return `${what}: not one internal token`;
  const foreign = arrival.headers.find(([name]) => /^x-(gw|envoy)-|_|^authorization$/.test(name) && !known.has(name));
  if (foreign) return `${what}: the header ${foreign[0]}`;
  const meaning = meaningOf(arrival.method, arrival.target);
  if (meaning.kind !== 'route' || meaning.route.handler !== 'control') return `${what}: no route of the control plane`;
  if (toldTo(caller, meaning)) return `${what}: no right to it`;
  return null;
}

/** Each trick by each caller. */
export function attemptsOf<T extends Trick>(
  route: Route,
  callers: readonly Caller[],
  tricks: readonly T[],
): Attempt<T>[] {
  const plain = baseRequest(route);
  return callers.flatMap((caller) =>
    tricks.map((trick, at) => {
      const { name, change, meaning } = trick;
      const request = change(plain);
      return {
        trick,
        id: `${route.method}${route.path.replaceAll(/\W/g, '-')}-${at}-${caller.name.replaceAll(/\W/g, '-')}`,
        name: `${name}, ${caller.name}: ${request.method} ${request.target}`,
        caller,
        request,
        meaning: meaning ?? meaningOf(request.method, request.target),
      };
    }),
  );
}

interface Tried {
  readonly gateway: WatchedGateway;
  readonly callers: Callers;
}

/**
 * Tries all of them, and expects no fault of a reply, none of an arrival, and no call at the provider. No more run at a time
 * than callers may have in one burst, so that their rate is not the reason of a refusal.
 */
export async function tryAll<T>(
  { gateway, callers }: Tried,
  attempts: readonly Attempt<T>[],
  faultIn: (attempt: Attempt<T>) => Promise<string | null>,
  atATime = refillAfter,
): Promise<void> {
  const before = await gateway.askedOfProvider();
  gateway.arrived.length = 0;
  const faults: string[] = [];
  for (let at = 0; at < attempts.length; at += atATime) {
    await callers.refill();
    const tried = attempts.slice(at, at + atATime).map(async (attempt) => {
      const fault = await faultIn(attempt);
      if (fault) faults.push(`${attempt.name}: ${fault}`);
    });
    await Promise.all(tried);
  }
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  for (const arrival of gateway.arrived) {
    const fault = faultOfArrival(arrival, byId);
    if (fault) faults.push(fault);
  }
  expect(faults).toEqual([]);
  expect(await gateway.askedOfProvider()).toBe(before);
}

/** The filter that admits calls by leases (lease.lua), and its routes. */
import { readFileSync } from 'node:fs';
import { callerField, identityNamespace, limitsDecidedHeader } from '@gw/contract/internal/identity';
import {
  leaseBusyMs,
  leasedLimitsField,
  leaseLifeMs,
  leasePath,
  leasePauseMs,
  mostLeasedBodyKib,
} from '@gw/contract/internal/lease';
import { type Route, routes } from '@gw/contract/routes';
import { luaString } from './lua-string.ts';
import { perRoute } from './route-parts.ts';

/** Only calls that go to the sidecar, since it takes leased ones from their limits. */
export const isLeased = ({ handler, limit }: Route): boolean => handler === 'sidecar' && limit === 'calls';
const leased = routes.filter(isLeased);

/** A lease applies to all of them, so they must be equal for the key check. */
function leaseScope(): string {
  const read = leased.map(({ limit, needsActive, scope }) => JSON.stringify([scope, limit ?? 'calls', needsActive]));
  const [scope] = leased.map((route) => route.scope);
  if (!scope || new Set(read).size !== 1 || !read[0]?.includes('"calls",true'))
    throw new Error(
      'The routes of the sidecar differ in scope or limit, so that one lease cannot hold for all of them.',
    );
  return scope;
}

/** Enables the filter for a route. */
export const withLease = perRoute('lease', 'envoy.config.route.v3.FilterConfig', { config: {} });

export function leaseLua(templateDir: string): string {
  const texts: Readonly<Record<string, string>> = {
    PATH: leasePath,
    SCOPE: leaseScope(),
    NAMESPACE: identityNamespace,
    CALLER: callerField,
    LIMITS: leasedLimitsField,
    LIMITS_DECIDED: limitsDecidedHeader,
  };
  const numbers: Readonly<Record<string, number>> = {
    LIFE: leaseLifeMs,
    BUSY: leaseBusyMs,
    PAUSE: leasePauseMs,
    LARGEST_BODY: mostLeasedBodyKib * 1024,
  };
  return readFileSync(`${templateDir}/lease.lua`, 'utf8').replace(/@([A-Z_]+)@/g, (found, name: string) => {
    const text = texts[name];
    if (text !== undefined) return luaString(text);
    if (numbers[name] === undefined) throw new Error(`lease.lua names ${found}, which lease-lua.ts does not know.`);
    return String(numbers[name]);
  });
}

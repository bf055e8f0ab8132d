/** Tricks that only HTTP/1.1 allows: hop-by-hop headers, upgrades, hosts, and unusual spellings of methods. */
import type { Trick } from './tricks.ts';

const withHeader = (name: string, value: string): Trick => ({
  name: `header: ${name}: ${value}`,
  change: (request) => ({ ...request, headers: [...request.headers, [name, value]] }),
});

/** Names of headers that the next hop is told to drop. Envoy drops those that the client may name, before anything else. */
const droppable = [
  'x-gw-account-id',
  'x-gw-account-id, x-gw-key-id, x-gw-tier, x-gw-scopes, x-gw-models',
  'x-gw-internal-token',
  'x-gw-cluster',
  'content-type-x',
];
const key = ['authorization', 'close, authorization', 'keep-alive, Authorization', 'AUTHORIZATION'];
/** Without these Envoy itself could not go on. */
const needed = ['host', 'x-forwarded-proto', 'x-forwarded-for', ':path', ':authority'];

export const http1Tricks: readonly Trick[] = [
  ...droppable.map((names) => withHeader('connection', names)),
  ...key.map((names) => ({ ...withHeader('connection', names), meaning: { kind: 'no key' } as const })),
  ...needed.map((names) => ({ ...withHeader('connection', names), meaning: { kind: 'malformed' } as const })),
  withHeader('proxy-connection', 'authorization'),
  withHeader('keep-alive', 'timeout=5, max=1000'),
  withHeader('te', 'trailers'),
  withHeader('te', 'chunked'),
  withHeader('trailer', 'authorization'),
  withHeader('http2-settings', 'AAMAAABkAAQAAP__'),
  withHeader('upgrade-insecure-requests', '1'),
  withHeader('expect', 'anything'),
  withHeader('expect', '100-continue'),
];

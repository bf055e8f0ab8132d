import { leafClusters } from '@gw/envoy/clusters';
import { listenerResources } from '@gw/envoy/deployment-listener';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { providerKind } from './provider-entry.ts';

/** Addresses as people type, paste and attack with. */
const addresses = fc.oneof(
  fc.webUrl(),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'HTTPS://', 'http:', 'file://', ''),
      fc.constantFrom('', 'user@', 'user:secret@', ':secret@', '%40@'),
      fc.constantFrom('host', 'h.example:8000', '[::1]:1', '127.0.0.1', 'h:0', 'h:99999', '', 'ho st', 'h\\x'),
      fc.constantFrom('', '/', '/v1', '/v1//', '/v1/?', '/v1?key=secret', '/v1#x', '/a%20b', '/\n', '/ü'),
    )
    .map((parts) => parts.join('')),
  fc.string(),
);

test('an address that is accepted holds nothing but scheme, host, port and path, and Envoy can be given it', () => {
  let accepted = 0;
  fc.assert(
    fc.property(addresses, (base_url) => {
      const body = providerKind.addBody.safeParse({ id: 'p', name: 'P', base_url });
      if (!body.success) return;
      accepted += 1;
      const { auth_header, base_url: kept } = providerKind.added(body.data, new Date(0));
      const { hash, host, origin, password, pathname, search, username } = new URL(kept);
      expect([username, password, search, hash, auth_header]).toEqual(['', '', '', '', null]);
      expect(kept).toMatch(/^https?:\/\/[^/]/);
      expect(host).not.toBe('');
      expect(kept).not.toMatch(/\/$|secret/);
      const usual = {
        path: null,
        headers: null,
        credential: null,
        weight: 1,
        maxConcurrentRequests: null,
        healthPath: null,
        ca: null,
      };
      const deployment = { id: 'd', baseUrl: kept, kind: 'openai' as const, ...usual };
      const resources = JSON.stringify([leafClusters([], [deployment]), listenerResources([deployment])]);
      expect(resources).toContain(JSON.stringify(`${pathname.replace(/\/$/, '')}/`));
      expect(origin).not.toBe('null');
    }),
    { numRuns: cases(2000) },
  );
  expect(accepted).toBeGreaterThan(cases(2000) / 40);
});

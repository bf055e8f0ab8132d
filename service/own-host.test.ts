import { describe, expect, it } from 'vitest';
import { ownHosts } from './own-host.ts';

describe('a request', () => {
  const isOwn = ownHosts(['Gateway.example.com', 'metrics.internal', '*.Svc.cluster.local']);

  it.each([
    undefined,
    ...['127.0.0.1', '127.0.0.1:8081', '10.2.3.4:9101', '[::1]:9101', '[fd00::7]', 'localhost:8081', 'ext-authz:9101'],
    ...['gateway.example.com', 'GATEWAY.example.com:8081', 'metrics.internal.:9101'],
    ...['ext-authz-0.ext-authz.gw.svc.cluster.local:9101', 'a.SVC.cluster.local.'],
  ])('for %s passes', (host) => {
    expect(isOwn(host)).toBe(true);
  });

  it.each([
    ...[
      'evil.example',
      'evil.example:9102',
      'localhost.evil.example',
      '127.0.0.1.nip.example',
      'x.gateway.example.com',
    ],
    ...['gateway.example.com.evil.example', 'a b', '', ':80', 'gateway.example.com@evil.example', '[::1].evil.example'],
    ...[
      'svc.cluster.local',
      'evilsvc.cluster.local',
      'a.svc.cluster.local.evil.example',
      '.svc.cluster.local',
      'a.cluster.local',
    ],
  ])('for "%s" does not', (host) => {
    expect(isOwn(host)).toBe(false);
  });
});

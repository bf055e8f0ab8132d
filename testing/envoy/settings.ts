/** Settings with which Envoy can be started alone: what it answers by itself needs no other part. */
import { join } from 'node:path';
import type { EnvoySettings } from '@gw/envoy/render';
import { inCheckout } from '@gw/stack/checkout';

export function testSettings(dir: string, changes: Partial<EnvoySettings> = {}): EnvoySettings {
  return {
    nodeId: 'test',
    publicAddress: '127.0.0.1',
    publicPort: 0,
    tls: null,
    extAuthz: [`unix:${join(dir, 'a.sock')}`],
    receiptSidecar: [`unix:${join(dir, 'r.sock')}`],
    controlPlane: [`unix:${join(dir, 'c.sock')}`],
    adminSocket: join(dir, 'admin.sock'),
    probeListen: `unix:${join(dir, 'probe.sock')}`,
    accessLog: join(dir, 'access.log'),
    addresses: {
      baseUrl: 'https://gw.example.com',
      statusUrl: 'https://status.example.com',
      auditEmail: 'audit@example.com',
      securityEmail: 'security@example.com',
    },
    evidenceKeys: [],
    internalTls: null,
    corsOrigins: [],
    maxConnections: 100,
    maxConnectionsPerAddress: 0,
    connectionIdleTimeoutS: 300,
    maxHeapMb: 1024,
    streamIdleTimeoutS: 300,
    sidecarTimeoutMs: 5000,
    leases: true,
    trustedProxies: [],
    proxyProtocol: false,
    replyEndModule: null,
    templateDir: inCheckout('envoy'),
    ...changes,
  };
}

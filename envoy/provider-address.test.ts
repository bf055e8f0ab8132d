/** A running Envoy, and providers behind names, addresses and certificates. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeClusterHeader, probeFailureHeader } from '@gw/contract/internal/probe';
import { type EnvoyAlone, startEnvoyAlone } from '@gw/testing/envoy/alone';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DeploymentPlace, probeCluster, probeClusters } from './clusters.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-address-'));
const socketPath = join(dir, 'probe.sock');
const [own, another] = [makeCertificate('own'), makeCertificate('another')];
const answer: RequestListener = (_, reply) => reply.end('here');
const secure = createTlsServer({ cert: own.certificate, key: own.key }, answer);
const plain = createServer(answer);
let envoy: EnvoyAlone;
let places: Readonly<Record<'byAddress' | 'anotherCa' | 'byName' | 'plainByName' | 'nobody', DeploymentPlace>>;

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const [tls, http] = [await listening(secure), await listening(plain)];
  const ca = own.certificate;
  places = {
    byAddress: { id: 'a', baseUrl: `https://127.0.0.1:${tls}/v1`, ca },
    anotherCa: { id: 'b', baseUrl: `https://127.0.0.1:${tls}/v1`, ca: another.certificate },
    byName: { id: 'c', baseUrl: `https://localhost:${tls}/v1`, ca },
    plainByName: { id: 'd', baseUrl: `http://localhost:${http}/v1`, ca: null },
    nobody: { id: 'e', baseUrl: 'http://nobody.invalid/v1', ca: null },
  };
  const clusters = probeClusters(Object.values(places)).map((each) => {
    // A static cluster is of no other type.
    const fields = Object.entries(each).filter(([name]) => name !== '@type');
    return `${JSON.stringify(Object.fromEntries(fields))},`;
  });
  const replace = { '"clusters":[{"name":"sink"': `"clusters":[${clusters.join('')}{"name":"sink"` };
  envoy = await startEnvoyAlone({ probeListen: `unix:${socketPath}` }, replace);
}, 120_000);
afterAll(async () => {
  await envoy?.stop();
  secure.close();
  plain.close();
  rmSync(dir, { recursive: true, force: true });
});

function call(place: DeploymentPlace): Promise<{ status: number; text: string; failure: unknown }> {
  const headers = { host: new URL(place.baseUrl).host, [probeClusterHeader]: probeCluster(place) };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/v1/models', headers, agent: false }, (reply) => {
      let text = '';
      reply.on('data', (part) => {
        text += part;
      });
      reply.once('end', () =>
        resolve({ status: reply.statusCode ?? 0, text, failure: reply.headers[probeFailureHeader] }),
      );
    });
    asked.once('error', reject).end();
  });
}

it('https to an address is reached by a certificate that names the address and comes from the ca', async () => {
  expect(await call(places.byAddress)).toEqual({ status: 200, text: 'here', failure: undefined });
});

it('a certificate of another authority, or for another host, is refused, and the reason told', async () => {
  expect(await call(places.anotherCa)).toMatchObject({ failure: 'UF', text: expect.stringMatching(/self.signed/) });
  expect(await call(places.byName)).toMatchObject({ failure: 'UF', text: expect.stringContaining('SAN') });
});

it('a name that leads to IPv6 as well is reached where IPv4 alone answers', async () => {
  expect(await call(places.plainByName)).toEqual({ status: 200, text: 'here', failure: undefined });
});

it('a name that nobody knows, and a provider that Envoy does not know, are told apart', async () => {
  expect(await call(places.nobody)).toMatchObject({ status: 503, failure: 'UH' });
  expect(await call({ ...places.nobody, id: 'unknown' })).toMatchObject({ status: 503, failure: 'NC' });
});

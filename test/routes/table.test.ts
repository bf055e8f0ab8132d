/** The configuration that Envoy runs with, as it tells it itself: what is walked by the other tests here is all there is. */
import { join } from 'node:path';
import { routes } from '@gw/contract/routes';
import { beforeAll, expect, it } from 'vitest';
import { readFrom } from '../outage/instances.ts';
import { stack } from '../shared-stack.ts';
import { meaningOf } from './request.ts';
import { forwards, type Listener, listenersOf, samplesOf } from './route-table.ts';

const adminSocket = join(stack.sockets, 'envoy-admin.sock');
let listeners: readonly Listener[] = [];
let front: Listener | undefined;
beforeAll(async () => {
  listeners = await listenersOf(adminSocket);
  front = listeners.find(({ port }) => port !== null);
});

it('one listener has a port; the sink and those of the deployments can be reached from within Envoy alone', async () => {
  expect(listeners.filter(({ port }) => port !== null).map(({ name }) => name)).toEqual(['public']);
  const others = listeners.filter(({ port }) => port === null).map(({ name }) => name.split(':')[0]);
  // The probe listener is on a socket that the control plane alone may open.
  expect(new Set(others)).toEqual(new Set(['sink', 'deployment', 'probe']));
  const said = await readFrom(adminSocket, '/listeners');
  expect(said.match(/127\.0\.0\.1:\d+/g)).toHaveLength(1);
});

it('what leads on from the port is what the contract names, each route of it and no other', () => {
  const samples = (front?.routes ?? []).filter(forwards).flatMap(samplesOf);
  const meant = samples.map(({ method, path }) => meaningOf(method, path));
  expect(meant.filter(({ kind }) => kind !== 'route')).toEqual([]);
  const reached = new Set(meant.map((meaning) => (meaning.kind === 'route' ? meaning.route : null)));
  expect(reached).toEqual(new Set(routes.filter(({ scope }) => scope !== null)));
});

it('it leads to the control plane, or by the sidecar, which says where to', () => {
  for (const each of (front?.routes ?? []).filter(forwards)) {
    const end =
      each.route?.cluster ??
      each.route?.cluster_header ??
      (each.route?.inline_cluster_specifier_plugin ? 'x-gw-order' : '');
    for (const { method, path } of samplesOf(each)) {
      const meaning = meaningOf(method, path);
      const handler = meaning.kind === 'route' ? meaning.route.handler : null;
      expect(handler === 'control' ? ['control_plane'] : ['sink', 'x-gw-cluster', 'x-gw-order'], path).toContain(end);
    }
    if (end.startsWith('x-gw-')) expect(each.match.headers.map(({ name }) => name)).toContain(end);
  }
});

it('the sink leads nowhere, and a deployment to its own provider', () => {
  for (const { name, routes: table } of listeners) {
    if (name === 'sink') expect(table.every((each) => each.direct_response && !each.route)).toBe(true);
    const id = /^deployment:(.+)$/.exec(name)?.[1];
    if (id !== undefined)
      for (const each of table) expect(each.route?.cluster).toMatch(new RegExp(`^provider:${id}@http://`));
  }
});

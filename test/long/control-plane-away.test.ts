/**
 * The control plane is away for ten minutes: calls go on by the last catalogue, services that start meanwhile take up the
 * stored one, and the ledger has every receipt once when it is back.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceName } from '@gw/stack/stack-plans';
import { forFile } from '@gw/testing/for-file';
import { afterAll, expect, test } from 'vitest';
import { expectComplete } from '../outage/expect-reply.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { pairOf } from '../outage/pair.ts';
import { type SteadyLoad, startLoad } from '../outage/steady-load.ts';

const awayMs = 600_000;
/** Some twenty calls a second, so that the ids of all fit into one question to the ledger. */
const load = { heldMs: 200, connections: 5 } as const;
const sidecars = ['receipt-sidecar', 'receipt-sidecar-2'] as const;
const authorizers = ['ext-authz', 'ext-authz-2'] as const;

const gateway = forFile(() => startOwnGateway({ instances: 2 }));
const loads: SteadyLoad[] = [];
afterAll(() => Promise.all(loads.map((each) => each.stop())));

function startSteadyLoad(): SteadyLoad {
  const started = startLoad(gateway.stack, load.heldMs, load.connections);
  loads.push(started);
  return started;
}

/** The version of the catalogue that a sidecar took up last, and where it found it. */
function takenUp(sidecar: InstanceName) {
  const lines = readFileSync(join(gateway.stack.logs, `${sidecar}.log`), 'utf8').split('\n');
  const last = lines.findLast((line) => line.includes('the catalogue was taken up')) ?? '{}';
  const { version, from } = JSON.parse(last);
  return { version, from };
}

const statusOfModels = async () => (await gateway.client.get('/v1/models')).status;

/** All are started anew one after the other, while the other one of each pair answers. */
async function restartAll(): Promise<void> {
  const pair = pairOf(gateway);
  for (const [service, names] of [
    ['receipt-sidecar', sidecars],
    ['ext-authz', authorizers],
  ] as const)
    for (const name of names) {
      await gateway.stack.part(name).restart();
      await pair.bothAnswer(service);
    }
}

/** With the keys that no call had used before, so that nobody has them in memory. */
async function otherKeysPass(): Promise<void> {
  const { audit, auditPlus } = gateway.stack.keys;
  for (const key of [audit, auditPlus])
    for (const stream of [false, true]) expectComplete(await gateway.client.chat({ key, stream }));
}

test('for ten minutes calls go on, services start from the stored catalogue, and no receipt is lost', async () => {
  const from = new Date();
  await gateway.whole();
  const steady = startSteadyLoad();
  await pairOf(gateway).bothAnswer('receipt-sidecar');
  await gateway.killForGood('control-plane');
  const ends = performance.now() + awayMs;

  await delay(awayMs / 5);
  expect(await statusOfModels()).toBe(503);
  // Nothing was published since it went away.
  const { version } = takenUp('receipt-sidecar');
  await restartAll();
  for (const name of sidecars) expect(takenUp(name)).toEqual({ version, from: 'redis' });
  await otherKeysPass();

  await delay(Math.max(0, ends - performance.now()));
  expect(gateway.stack.part('control-plane').pid).toBeNull();
  expect(await steady.stop()).toEqual([]);
  expect(steady.ended.length).toBeGreaterThan(1000);

  // Without Valkey too, each sidecar has what it kept on its disk, and keys are confirmed by Postgres.
  await gateway.killForGood('valkey');
  for (const name of [...sidecars, ...authorizers]) await gateway.stack.part(name).restart();
  await eventually('the services to answer', async () => (await gateway.client.chat()).status === 200);
  for (const name of sidecars) expect(takenUp(name)).toEqual({ version, from: 'file' });
  await otherKeysPass();
  await gateway.start('valkey');

  const returning = startSteadyLoad();
  await gateway.start('control-plane');
  await eventually('the routes of the control plane', async () => (await statusOfModels()) === 200);
  expect(await returning.stop()).toEqual([]);

  const ids = loads.flatMap(({ ended }) => ended.map(({ receiptId }) => receiptId));
  console.log(`${ids.length} calls`);
  await gateway.ledger.receipts(ids);
  const { rows, ids: different } = await gateway.ledger.count(from);
  expect(rows).toBe(different);
  expect(rows).toBeGreaterThan(ids.length);
}, 900_000);

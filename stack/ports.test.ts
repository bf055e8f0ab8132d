import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { inCheckout } from './machine/checkout.ts';
import { freePorts } from './ports.ts';

test('nobody else is given ports that were just given, in this process or in another one', async () => {
  const given = new Set(await freePorts(250));
  expect(given.size).toBe(250);
  const others = await freePorts(250);
  const script = `
    const { freePorts } = await import(${JSON.stringify(inCheckout('stack', 'ports.ts'))});
    process.stdout.write(JSON.stringify(await freePorts(250)));`;
  const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const elsewhere = JSON.parse(stdout || `"${stderr}"`) as number[];
  expect(elsewhere).toHaveLength(250);
  expect([...others, ...elsewhere].filter((port) => given.has(port))).toEqual([]);
}, 60_000);

import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createFaultLog } from './fault-log.ts';
import { openLog } from './log.ts';

test('each fault is counted, and logged with its stack once per kind and minute', async () => {
  const lines: string[] = [];
  let nowMs = 0;
  const log = openLog('a-part', 'info', { write: (line) => void lines.push(line) });
  const faults = createFaultLog(log, () => nowMs);
  const registry = new Registry();
  faults.register(registry);
  const fault = (kind: string, atMs: number) => {
    nowMs = atMs;
    faults.fault(kind, new TypeError('x is undefined'));
  };

  fault('receipt', 0);
  fault('receipt', 59_999);
  fault('routing trace', 59_999);
  fault('receipt', 60_000);

  const logged = lines.map((line) => JSON.parse(line));
  expect(logged.map(({ kind }) => kind)).toEqual(['receipt', 'routing trace', 'receipt']);
  expect(logged[0]?.err).toMatchObject({ type: 'TypeError', message: 'x is undefined' });
  expect(logged[0]?.err.stack).toContain('fault-log.test.ts');
  const metrics = await registry.metrics();
  expect(metrics).toContain('gw_program_faults_total{kind="receipt"} 3');
  expect(metrics).toContain('gw_program_faults_total{kind="routing trace"} 1');
});

import { Cluster } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRedisWriter } from './redis-writer.ts';

test('a node that does not answer costs the other nodes of a Cluster no connection', () => {
  const cut = vi.spyOn(Cluster.prototype, 'disconnect');
  onTestFinished(() => cut.mockRestore());
  const log = pino({ level: 'silent' });
  const writer = openRedisWriter({ url: 'redis+cluster://127.0.0.1:1', log, commandTimeoutMs: 100 });
  writer.renew();
  expect(cut).not.toHaveBeenCalled();
  writer.stop();
});

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Command, Reply } from '../redis-writer.ts';
import { openRedisLimits } from './redis-limits.ts';
import { takeScript } from './take.lua.ts';

/** A Redis that has just started: it knows a script once it has heard it. */
function emptyRedis() {
  const known = new Set<string>();
  const done: string[] = [];
  const sha1 = (script = '') => createHash('sha1').update(script).digest('hex');
  const reply = (command: Command): Reply => {
    const [name, script = '', text] = command.map(String);
    if (name === 'EVALSHA' && !known.has(script)) throw new Error('NOSCRIPT No matching script. Please use EVAL.');
    if (name === 'SCRIPT') known.add(sha1(text));
    if (name === 'EVAL') known.add(sha1(script));
    const of = script === sha1(takeScript) || script === takeScript ? 'take' : 'settle';
    done.push(name === 'SCRIPT' ? 'load' : `${name} ${of}`);
    return [0, 1000, 5000, 1];
  };
  return { done, send: async (...commands: readonly Command[]) => commands.map(reply) };
}

const limit = { rate: { perS: 1, burst: 5 }, perDay: null };
const take = { key: 'k', limit };
const debt = { day: 0, limit, milliTokens: 1000, used: 1 };

test('after a probe what is asked is done in the order in which it is asked', async () => {
  const redis = emptyRedis();
  const limits = openRedisLimits(redis);
  await limits.probe('a');
  await Promise.all([limits.settle('k', debt, 0), limits.take([take], 0)]);
  expect(redis.done).toEqual(['load', 'load', 'EVALSHA take', 'EVALSHA settle', 'EVALSHA take']);
});

test('a script that Redis does not know is sent whole, and any other error is the caller’s', async () => {
  const redis = emptyRedis();
  const taken = { lacking: 0, atMs: 1000, left: [{ milliTokens: 5000, used: 1 }] };
  expect(await openRedisLimits(redis).take([take], 0)).toEqual(taken);
  expect(redis.done).toEqual(['EVAL take']);
  const full = openRedisLimits({ send: () => Promise.reject(new Error('OOM command not allowed')) });
  await expect(full.take([take], 0)).rejects.toThrow('OOM');
});

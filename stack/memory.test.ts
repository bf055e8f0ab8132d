import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { memoryOf } from './memory.ts';

// V8 does not promise to keep its flags, and a service with one that is gone would not start.
test.each(Object.entries(memoryOf))('Node takes the arguments of %s', (_, { args, env }) => {
  const options = { env: { ...process.env, ...env }, encoding: 'utf8' as const };
  expect(execFileSync(process.execPath, [...args, '-p', '1 + 1'], options).trim()).toBe('2');
});

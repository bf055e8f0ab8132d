import { expect, it, test } from 'vitest';
import { openLog } from './log.ts';

/** Returns the lines that are written for these fields. */
function written(fields: object) {
  const lines: string[] = [];
  openLog('a-part', 'info', { write: (line) => void lines.push(line) }).error(fields, 'a call failed');
  const [text = ''] = lines;
  return { text, line: JSON.parse(text) };
}

it('writes an error with its type, stack, code and causes', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const error = Object.assign(new TypeError('fetch failed', { cause }), { code: 'UND_ERR' });
  const { line } = written({ err: error, receipt: 'r' });
  expect(line).toMatchObject({ part: 'a-part', receipt: 'r', msg: 'a call failed' });
  expect(line.err).toMatchObject({ type: 'TypeError', code: 'UND_ERR' });
  expect(line.err.message).toBe('fetch failed: connect ECONNREFUSED');
  expect(line.err.stack).toContain('log.test.ts');
});

it('writes what is thrown and is no Error', () => {
  expect(written({ err: 'no answer in time' }).line.err).toBe('no answer in time');
  expect(written({ err: undefined }).text).toContain('a call failed');
});

test('the message of an error has a bound, and so has its stack', () => {
  expect(written({ err: new Error('x'.repeat(100_000)) }).text.length).toBeLessThan(8000);
});

const secret = 'hunter2-secret';
test.each<[string, object]>([
  ['the address of Redis', { err: new Error(`connect to redis://:${secret}@10.0.0.1:6379/0 failed`) }],
  ['the address of Postgres', { err: new Error(`postgresql://gw:${secret}@db/gw is away`) }],
  ['a password with an at sign', { err: new Error(`postgresql://gw:p@${secret}@db/gw is away`) }],
  ['an address in a cause', { err: new Error('failed', { cause: new Error(`redis://:${secret}@host`) }) }],
  ['an address that is thrown', { err: `redis://:${secret}@host` }],
  ['the command of a Redis error', { err: Object.assign(new Error('WRONGPASS'), { command: { args: [secret] } }) }],
  [
    'the input of an address',
    { err: Object.assign(new TypeError('Invalid URL'), { input: `redis://:${secret}@host` }) },
  ],
  [
    'a row in the detail of Postgres',
    { err: Object.assign(new Error('duplicate'), { detail: `Key (${secret}) exists.` }) },
  ],
  ['a reply that an error carries', { err: new Error('refused', { cause: { id_token: secret } }) }],
  ['an object that is thrown', { err: { id_token: secret } }],
  [
    'errors that an error holds',
    { err: new AggregateError([Object.assign(new Error('a'), { token: secret })], 'all') },
  ],
  ['an authorization', { headers: { authorization: secret } }],
  ['a password', { options: { password: secret } }],
  ['a secret', { secret }],
])('%s shows no secret', (_, fields) => {
  expect(written(fields).text).not.toContain(secret);
});

/** The check reports a fault, never an exception, for any row that somebody with the database could have written. */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { entryOf } from '@gw/testing/control-plane/fixtures';
import { rowOfEntry } from '@gw/testing/control-plane/store-entries';
import { describe, expect, test } from 'vitest';
import { isSealOf, sealOf } from '../../shared/seal.ts';
import { faultOf, type LedgerRow, sealed } from './seal.ts';

const keys: KeyRing = { current: { id: 1, secret: Buffer.alloc(32, 9) }, others: [] };

function stored(): LedgerRow {
  const { body, created_at, facts, routing_trace, ...row } = sealed(rowOfEntry(entryOf()), keys);
  const text = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  return {
    ...row,
    created_at: new Date(created_at),
    body: JSON.stringify(body),
    routing_trace: text(routing_trace),
    facts: text(facts),
    compressed: null,
  };
}
const row = stored();
const check = (change: Partial<LedgerRow>) => faultOf({ ...row, ...change }, keys);

test('a row as it was stored has no fault', () => {
  expect(check({})).toBeNull();
});

describe('a seal that is not the very 64 digits is wrong', () => {
  const changes: Readonly<Record<string, (seal: string) => string>> = {
    'with a letter of two bytes': (seal) => `é${seal.slice(1)}`,
    'of letters of two bytes': () => 'é'.repeat(64),
    'in upper case': (seal) => seal.toUpperCase(),
    'with a space before': (seal) => ` ${seal}`,
    'with a space behind': (seal) => `${seal} `,
    'with a line feed behind': (seal) => `${seal}\n`,
    'cut off, and a space in its place': (seal) => `${seal.slice(0, 63)} `,
    'with more digits': (seal) => `${seal}00`,
    'with fewer digits': (seal) => seal.slice(0, 62),
    'of no digit': () => '',
    'of 64 spaces': () => ' '.repeat(64),
    'with a digit that is none': (seal) => `${seal.slice(0, 63)}g`,
  };
  test.each(Object.entries(changes))('%s', (_, change) => {
    expect(check({ seal: change(String(row.seal)) })).toBe('forged');
    const text = 'chain\n1\nhash';
    const head = sealOf(keys.current, 'gw.audit_head', text);
    expect(isSealOf(keys.current, 'gw.audit_head', text, head)).toBe(true);
    expect(isSealOf(keys.current, 'gw.audit_head', text, change(head))).toBe(false);
  });
});

describe('a body that is no receipt is altered, or unsealed', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  test.each(['null', '[]', '"x"', '5', 'true', '{}', '{"id":"\\ud800"}', deep, `{"a":${deep}}`, '{', ''])(
    '%.20s',
    (body) => {
      expect(check({ body })).toBe('altered');
      const unsealed = { content_sha256: null, seal: null, seal_key: null };
      expect(check({ body, ...unsealed })).toBe('unsealed');
    },
  );
});

describe('facts and a trace that nobody can have sealed are altered', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  test.each(['"\\ud800"', '{"a":1e999}', deep, '{', ''])('%.20s', (text) => {
    expect(check({ facts: text })).toBe('altered');
    expect(check({ routing_trace: text })).toBe('altered');
  });
});

test.each<Partial<LedgerRow>>([
  { id: 'x' },
  { created_at: new Date(Number.NaN) },
  { energy_wh: Number.NaN },
  { carbon_g: Number.POSITIVE_INFINITY },
  { content_sha256: 'é'.repeat(64) },
])('a column with a value that no receipt has is altered: %o', (change) => {
  expect(check(change)).toBe('altered');
});

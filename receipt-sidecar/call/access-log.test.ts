import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import { entryNamed } from '@gw/testing/ledger-entry';
import { expect, test } from 'vitest';
import type { Lease } from '../guards/slots/leases.ts';
import { readAccessLog } from './access-log.ts';

const texts = (fields: Readonly<Record<string, string>>) => ({
  fields: Object.fromEntries(Object.entries(fields).map(([name, stringValue]) => [name, { stringValue }])),
});

/** Reads one entry; `type` is numbered as in the proto. */
function read(type: number, gw: Readonly<Record<string, string>>, identity: Readonly<Record<string, string>>) {
  const running: Lease[] = [];
  const ended: string[] = [];
  const filterMetadata = { gw: texts(gw), 'envoy.filters.http.ext_authz': texts(identity) };
  const message = {
    httpLogs: { logEntry: [{ commonProperties: { accessLogType: type, metadata: { filterMetadata } } }] },
  };
  readAccessLog(message as unknown as StreamAccessLogsMessage, {
    ends: { tell: (id) => void ended.push(id) },
    failedAttempts: { tell: () => undefined },
    firstAttempts: { lost: () => undefined },
    ledger: { finish: async () => true, keep: () => undefined },
    runs: (lease) => void running.push(lease),
    refused: () => undefined,
  });
  return { running, ended };
}

const gw = { receipt_id: 'rcpt', slot: 'slot' };
const identity = { account_id: 'acct', key_id: 'key' };
const [underWay, end] = [5, 6];

test('an entry of a stream under way names its slot, and says nothing of an end', () => {
  expect(read(underWay, gw, identity)).toEqual({
    running: [{ id: 'slot', accountId: 'acct', keyId: 'key' }],
    ended: [],
  });
});

test('an entry of an end renews no slot', () => {
  expect(read(end, gw, identity)).toEqual({ running: [], ended: ['rcpt'] });
});

test.each([
  ['slot', {}, identity],
  ['account', gw, { key_id: 'key' }],
  ['key', gw, { account_id: 'acct' }],
])('an entry under way without its %s does nothing', (_missing, fields, caller) => {
  expect(read(underWay, fields, caller)).toEqual({ running: [], ended: [] });
});

test('an entry without a receipt is of a request that was refused, or of a call that was given up, by the name of the request', () => {
  const told: unknown[] = [];
  const refused: number[] = [];
  const ended = (requestId: string, value: number, details = 'gw_overloaded') => ({
    request: { requestId },
    response: { responseCode: { value }, responseCodeDetails: details },
  });
  const entries = [ended('r', 500), ended('', 500), ended('s', 401), ended('t', 503), ended('u', 503, 'via_upstream')];
  const message = { httpLogs: { logEntry: entries } };
  readAccessLog(message as unknown as StreamAccessLogsMessage, {
    ends: { tell: (...what) => void told.push(what) },
    failedAttempts: { tell: () => undefined },
    firstAttempts: { lost: () => undefined },
    ledger: { finish: async () => true, keep: () => undefined },
    runs: () => undefined,
    refused: (status) => void refused.push(status),
  });
  expect(told).toEqual([
    ['r', 'unsent'],
    ['u', 'unsent'],
  ]);
  expect(refused).toEqual([500, 500, 401, 503, 503]);
});

test('what no store has taken is handed on as its sidecar has left it, with its facts', async () => {
  const fields = {
    ...texts({ receipt_id: 'rcpt', degraded: '{}', unsaved: entryNamed('a').toString('base64') }).fields,
    shown: { boolValue: true },
  };
  const message = {
    httpLogs: { logEntry: [{ commonProperties: { metadata: { filterMetadata: { gw: { fields } } } } }] },
  };
  const kept: unknown[] = [];
  readAccessLog(message as unknown as StreamAccessLogsMessage, {
    ends: { tell: () => undefined },
    failedAttempts: { tell: () => undefined },
    firstAttempts: { lost: () => undefined },
    ledger: { finish: async () => false, keep: (...what) => void kept.push(what) },
    runs: () => undefined,
    refused: () => undefined,
  });
  await Promise.resolve();
  expect(kept).toEqual([['rcpt', entryNamed('a')]]);
});

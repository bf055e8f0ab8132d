/** The usage that docs/api.md shows is what the ledger adds up with those receipts in it. */

import type { CountedVersion } from '@gw/contract/management';
import { supersede } from '@gw/control-plane/internals/ledger/receipts/supersede';
import { usageOf } from '@gw/control-plane/internals/ledger/usage/usage';
import { startStores } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { forFile } from '@gw/testing/for-file';
import type { LedgerEntry } from '@gw/testing/ledger-entry';
import { beforeAll, expect, it } from 'vitest';
import type { MadeCall } from './calls.ts';
import { examples } from './examples.ts';
import { usageCalls, usageReply } from './usage.ts';

const accountId = 'acct_demo_audit';
const stores = forFile(startStores);

const entryOf = ({ facts, receipt, trace }: MadeCall): LedgerEntry => ({
  accountId,
  keyId: 'key',
  endpoint: '/v1/chat/completions',
  receipt,
  routingTrace: trace,
  facts: JSON.parse(facts),
});

beforeAll(async () => {
  await storeEntries(stores.db, usageCalls.map(entryOf), stores.seals);
  const { facts, receipt: numbers } = examples.restated;
  const version = { current: examples.asIssued.receipt, numbers, facts: JSON.parse(facts) };
  await supersede(stores.db, [version], stores.seals);
});

it.each<CountedVersion>(['issued', 'restated'])('as %s', async (version) => {
  const { data, from, to, total, interval, simulated } = usageReply(version);
  const period = { from: new Date(from), to: new Date(to) };
  const question = {
    accountId,
    ...period,
    version,
    simulated,
    interval,
    group_by: ['model' as const],
    currency: 'USD',
  };
  expect(await usageOf(stores.db, question)).toEqual({ data, total });
});

import { ChainCheck, operatorChain } from '@gw/contract/internal/audit-chain';
import { stepHash } from '@gw/contract/internal/onboarding-step';
import {
  applicationOf,
  at,
  bringTo,
  contract,
  reason,
  startTestOnboarding,
} from '@gw/testing/control-plane/onboarding';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { readAudit, readHead } from '../../people/audit/read.ts';
import type { Stage } from './machine.ts';

const running = forFile(startTestOnboarding);

const entriesOf = (chain: string) => readAudit(running.stores.db, chain, { order: 'asc', limit: 100_000 });

test("the operators' chain has each step, and the hash of its row", async () => {
  const id = await bringTo(running, 'sanctions_match');
  await running.post(at(id, 'clear-match'), reason);
  const entries = (await entriesOf(operatorChain)).filter(({ target }) => target === `application:${id}`);
  const { steps } = await applicationOf(running, id);
  expect(entries.map(({ action, actor, before, after }) => [action, actor.id, before, after])).toEqual(
    [
      ['application.created', 'op_support', null, 'account_created'],
      ['application.declared', 'op_support', 'account_created', 'use_screening'],
      ['application.use_screened', 'screening', 'use_screening', 'sanctions_screening'],
      ['application.sanctions_screened', 'screening', 'sanctions_screening', 'sanctions_match'],
      ['application.match_cleared', 'op_admin', 'sanctions_match', 'contract_pending'],
    ].map(([action, actor, from, stage], i) => [
      action,
      actor,
      from === null ? null : { stage: from },
      { stage, step_sha256: stepHash(steps[i]) },
    ]),
  );
  expect(JSON.stringify(entries)).not.toMatch(/Munitions|two people/);
  expect(entries.at(-1)?.request_id).toMatch(/^[0-9a-f-]{36}$/);
});

test("the account's chain is the same whether a screening has found something or not, and however an application ends", async () => {
  const told = async (id: string) => {
    const entries = await entriesOf(id);
    const check = new ChainCheck();
    for (const entry of entries) check.next(entry);
    expect(check.end(await readHead(running.stores.db, id))).toEqual([]);
    return entries.map(({ action, actor, before, after }) => [action, actor, before, after]);
  };
  const ends = await Promise.all(
    ['use_match', 'sanctions_match', 'manual_review'].map(async (stage) => {
      const id = await bringTo(running, stage as Stage);
      await running.post(at(id, stage === 'manual_review' ? 'approve-review' : 'clear-match'), reason);
      await running.screen(id);
      await running.post(at(id, 'contract'), contract);
      return told(id);
    }),
  );
  const usual = await told(await bringTo(running, 'key_pending'));
  expect(usual.map(([action]) => action)).toEqual([
    'application.created',
    'application.declared',
    'application.contract_signed',
  ]);
  for (const end of ends) expect(end).toEqual(usual);

  const reviewed = await bringTo(running, 'manual_review');
  await running.post(at(reviewed, 'reject-review'), reason);
  const matched = await bringTo(running, 'sanctions_match');
  await running.post(at(matched, 'reject-match'), reason);
  const prohibited = await told(await bringTo(running, 'rejected'));
  expect(prohibited.at(-1)).toEqual([
    'application.closed',
    { kind: 'system', id: 'onboarding', name: null },
    null,
    null,
  ]);
  for (const id of [reviewed, matched, await bringTo(running, 'expired')]) expect(await told(id)).toEqual(prohibited);
});

/** Onboarding on real stores, with a clock that the test sets and people whom a header names. */

import { randomBytes, randomUUID } from 'node:crypto';
import { dayMs } from '@gw/contract/internal/durations';
import { accountRoutes } from '@gw/control-plane/internals/customers/accounts/routes';
import type { operatorActions, Stage } from '@gw/control-plane/internals/customers/onboarding/machine';
import { onboardingOperatorRoutes } from '@gw/control-plane/internals/customers/onboarding/operator-routes';
import { screenApplication } from '@gw/control-plane/internals/customers/onboarding/screening-run';
import { createOnboarding, type Onboarding } from '@gw/control-plane/internals/customers/onboarding/steps';
import { noLists, type ScreeningSettings } from '@gw/control-plane/internals/customers/screening/config';
import { loadUsePolicy } from '@gw/control-plane/internals/customers/screening/use-policy';
import { guardRoutes } from '@gw/control-plane/internals/people/access/guard';
import { createKeys, type Keys } from '@gw/control-plane/internals/people/keys/keys';
import { bareApp } from '@gw/control-plane/internals/shared/bare-app';
import type { Context } from '@gw/control-plane/internals/shared/context';
import { openNamesOfReplies } from '@gw/control-plane/internals/shared/names/open-replies';
import type { OperatorRole } from '@gw/control-plane/internals/shared/principal';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { seedOperators } from './access.ts';
import { addresses, type Stores, silentLog, startStores } from './fixtures.ts';

export const policy = loadUsePolicy({ policyFile: null });

export interface TestOnboarding {
  readonly stores: Stores;
  readonly keys: Keys;
  readonly onboarding: Onboarding;
  readonly app: FastifyInstance;
  /** The time of the clock; set it. */
  readonly clock: { now: Date };
  /** Does the screenings that are to be done for it, as the job does. */
  screen(accountId: string, settings?: ScreeningSettings): Promise<void>;
  post(url: string, payload: unknown, role?: OperatorRole): Promise<LightMyRequestResponse>;
  get(url: string, role?: OperatorRole): Promise<LightMyRequestResponse>;
  stop(): Promise<void>;
}

export const synthetic: ScreeningSettings = { ...noLists, synthetic: true };

export async function startTestOnboarding(on?: Stores): Promise<TestOnboarding> {
  const stores = on ?? (await startStores());
  const { db, redis } = stores;
  await seedOperators(stores);
  const clock = { now: new Date('2026-03-01T12:00:00.000Z') };
  const now = (): Date => clock.now;
  const keys = createKeys({
    db,
    redis,
    log: silentLog,
    now,
    pepper: { version: 1, secret: Buffer.alloc(32, 7) },
    random: randomBytes,
  });
  const newAccountId = (): string => `acct_${randomUUID()}`;
  const onboarding = createOnboarding({ db, now, newAccountId, keys, idleDays: 30 });
  const context = { db, redis, log: silentLog, addresses, now } as unknown as Context;
  const app = bareApp(context, { requestIdHeader: false, genReqId: () => randomUUID() });
  openNamesOfReplies(app, context);
  guardRoutes(app, {
    addresses,
    controlUrl: 'http://127.0.0.1:8081',
    identify: async (request) => {
      const role = request.headers['x-test-role'];
      if (role !== 'viewer' && role !== 'support' && role !== 'admin') return null;
      const proof = { kind: 'token', id: `optk_${role}`, expiresAt: null } as const;
      return { principal: { kind: 'operator', id: `op_${role}`, name: role, role, proof }, by: 'bearer' };
    },
  });
  onboardingOperatorRoutes(app, context, { onboarding, policy });
  accountRoutes(app, context);
  return {
    stores,
    keys,
    onboarding,
    app,
    clock,
    screen: (accountId, settings = synthetic) =>
      screenApplication(accountId, { db, now, onboarding, policy, settings }),
    post: (url, payload, role = 'admin') =>
      app.inject({ method: 'POST', url, payload: payload as object, headers: { 'x-test-role': role } }),
    get: (url, role = 'viewer') => app.inject({ url, headers: { 'x-test-role': role } }),
    stop: async () => {
      await app.close();
      await stores.stop();
    },
  };
}

export const root = '/operator/v1/applications';

export const applicant = (changes: object = {}) => ({
  name: 'Northwind Analytics GmbH',
  tier: 'audit_plus',
  billing_contact: { name: 'Ada Beck', email: 'billing@northwind.example' },
  technical_contact: { name: 'Lin Weber', email: 'tech@northwind.example' },
  ...changes,
});

export const declaration = (changes: object = {}) => ({
  intended_use: 'Answers to questions of our customers about their orders.',
  uses: ['customer_support'],
  industry: 'retail',
  countries: ['DE'],
  ...changes,
});

export const contract = {
  sha256: 'ab'.repeat(32),
  reference: 'contracts/2026/0042',
  signed_at: '2026-03-01T10:00:00Z',
};
export const reason = { reason: 'Looked at by two people; it is somebody else.' };

export async function create(running: Pick<TestOnboarding, 'post'>, changes: object = {}): Promise<string> {
  return (await done(running.post(root, applicant(changes), 'support'))).json().account_id;
}

/** The application as an operator sees it. */
export const applicationOf = async ({ get }: TestOnboarding, id: string) => (await get(`${root}/${id}`)).json();

export const accountStateOf = async ({ stores }: TestOnboarding, id: string) =>
  (await stores.db.account.findUniqueOrThrow({ where: { id } })).state;

export const at = (id: string, step: string): string => `${root}/${id}/${step}`;

async function done(asked: Promise<LightMyRequestResponse>): Promise<LightMyRequestResponse> {
  const reply = await asked;
  if (reply.statusCode >= 300) throw new Error(`${reply.statusCode}: ${reply.body}`);
  return reply;
}

type Flow = Pick<TestOnboarding, 'clock' | 'onboarding' | 'post' | 'screen'>;

/** How an application gets to each stage through the public interfaces. */
export async function bringTo(running: Flow, stage: Stage): Promise<string> {
  const id = await create(running, stage === 'sanctions_match' ? { name: 'Borealis Munitions' } : {});
  if (stage === 'account_created') return id;
  const changes =
    stage === 'manual_review'
      ? { industry: 'defence' }
      : stage === 'use_match'
        ? { intended_use: 'Research into ransomware and its authors.' }
        : stage === 'rejected'
          ? { uses: ['weapons'] }
          : {};
  await done(running.post(at(id, 'declaration'), declaration(changes), 'support'));
  if (stage === 'use_screening') return id;
  if (stage === 'sanctions_screening') {
    await running.screen(id, noLists).catch(() => {});
    return id;
  }
  await running.screen(id);
  if (stage === 'expired') {
    const before = running.clock.now;
    running.clock.now = new Date(before.getTime() + 31 * dayMs);
    await running.onboarding.expireIdle();
    running.clock.now = before;
  }
  if (stage === 'key_pending' || stage === 'complete') await done(running.post(at(id, 'contract'), contract));
  if (stage === 'complete') await done(running.post(at(id, 'key'), { name: 'first' }));
  return id;
}

/** For each action of an operator: the last part of its path, a body, and where it may happen. */
export const requests: Readonly<Record<(typeof operatorActions)[number], readonly [string, () => object, Stage[]]>> = {
  declare: ['declaration', declaration, ['account_created']],
  clear_match: ['clear-match', () => reason, ['use_match', 'sanctions_match']],
  reject_match: ['reject-match', () => reason, ['use_match', 'sanctions_match']],
  approve_review: ['approve-review', () => reason, ['manual_review']],
  reject_review: ['reject-review', () => reason, ['manual_review']],
  sign_contract: ['contract', () => contract, ['contract_pending']],
  issue_key: ['key', () => ({ name: 'x' }), ['key_pending']],
};

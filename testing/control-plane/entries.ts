/** A catalogue entry of each kind, and people who look after them. */

import { readAudit } from '@gw/control-plane/internals/people/audit/read';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { seedOperators, withToken } from './access.ts';
import { startTestApp, type TestApp } from './app.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
export const testApp = (): TestApp => running;
export const clock = new Date('2026-11-21T09:00:00.000Z');
export const as = (role: keyof typeof tokens, app: FastifyInstance = running.operator) => withToken(app, tokens[role]);
export const tokenOf = (role: keyof typeof tokens): string => tokens[role];
export const at = (kind: string, id?: string) => `/operator/v1/${kind}${id === undefined ? '' : `/${id}`}`;
export const log = () => readAudit(running.context.db, 'operators', { order: 'desc', limit: 10 });
export const newest = async () => (await log())[0];
export const version = async () => (await running.context.db.catalogueVersion.findFirstOrThrow()).version;
export const errorOf = (reply: LightMyRequestResponse) => {
  const { code, param } = reply.json().error;
  return [reply.statusCode, code, param];
};

export const model = { id: 'acme/m-1', owned_by: 'acme', kind: 'chat' };
export const region = { code: 'pl-east', name: 'Warsaw', country: 'PL', grid_zone: 'POL' };
export const provider = { id: 'acme', name: 'Acme', base_url: 'https://llm.acme.example/v1' };
export const deployment = {
  id: 'acme-pl',
  provider: 'acme',
  region: 'pl-east',
  models: { 'acme/m-1': 'm1' },
  pue: 1.2,
};
export const alias = { id: 'acme/best', targets: [{ model: 'acme/m-1', provider: 'acme' }, { model: 'sim-small' }] };
export const whole = {
  models: model,
  regions: region,
  providers: provider,
  deployments: deployment,
  aliases: alias,
} as const;
export type Kind = keyof typeof whole;
export const kinds = Object.keys(whole) as Kind[];
export const idOf = (kind: Kind) => (kind === 'regions' ? region.code : whole[kind as Exclude<Kind, 'regions'>].id);
export const singular = (kind: Kind) => (kind === 'aliases' ? 'alias' : kind.slice(0, -1));

/** Stores of its own for a file; each test begins without the entries. */
export function useTestApp(): void {
  beforeAll(async () => {
    running = await startTestApp(() => clock);
    tokens = await seedOperators(running.context);
  }, 120_000);
  afterAll(() => running?.stop());
  beforeEach(async () => {
    const { db } = running.context;
    await db.alias.deleteMany();
    await db.price.deleteMany();
    await db.energyContract.deleteMany();
    await db.deployment.deleteMany({ where: { id: deployment.id } });
    await db.model.deleteMany({ where: { ownedBy: 'acme' } });
    await db.region.deleteMany({ where: { code: region.code } });
    await db.provider.deleteMany({ where: { id: provider.id } });
  });
}

export const add = (kind: Kind, changes: object = {}) => as('admin')('POST', at(kind), { ...whole[kind], ...changes });
export const change = (kind: Kind, changes: object) => as('admin')('PATCH', at(kind, idOf(kind)), changes);
export const addAll = async () => {
  for (const kind of kinds) expect((await add(kind)).statusCode, kind).toBe(200);
};

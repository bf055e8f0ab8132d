/**
 * Models of the simulated provider on deployments that are configured for one shape of energy each. They are in the
 * catalogue while a suite runs and no other suite knows them.
 */
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import type { Lineage } from '@gw/methodology/lineage';
import { recompute, verify } from '@gw/methodology/recompute';
import { type Database, openDatabase } from '@gw/prisma/client';
import { expect } from 'vitest';
import { z } from 'zod';
import { eventually, get, type HttpReply, openAi, stack } from '../sdk/gateway.ts';

export interface Metered {
  readonly model: string;
  /** Default: it chats. */
  readonly kind?: 'chat' | 'embedding';
  /** True: the catalogue has neither parameters nor a size class of it. */
  readonly isUnknown?: boolean;
  /** Deployments in the order of provider preference; the region is `us-east`, then `eu-north`. */
  readonly deployments: readonly { readonly telemetry: string | null; readonly site?: string }[];
}

const regions = ['us-east', 'eu-north'] as const;
/** The models of the simulator that answer, and their size. */
const kinds = {
  chat: { provided: 'sim-small', facts: { ...parameters(8), modelClass: 'small' } },
  embedding: { provided: 'sim-embed', facts: { ...parameters(0.3), modelClass: 'embedding', takesTemperature: false } },
};

function parameters(billions: number) {
  return {
    activeParametersMinB: billions,
    activeParametersMaxB: billions,
    totalParametersMinB: billions,
    totalParametersMaxB: billions,
  };
}

export interface MeteredModels {
  remove(): Promise<void>;
}

/** Returns when every deployment answers. `name` keeps the rows of suites apart. */
export async function addModels(name: string, offered: readonly Metered[]): Promise<MeteredModels> {
  const db = openDatabase(stack.databaseUrl, { connections: 1 });
  await removeRows(db, name);
  for (const { model, kind = 'chat', isUnknown, deployments } of offered) {
    const { facts, provided } = kinds[kind];
    const known = isUnknown ? {} : facts;
    await db.model.create({ data: { id: model, ownedBy: 'simulator', kind, modalities: ['text'], ...known } });
    for (const [index, { telemetry, site }] of deployments.entries()) {
      const providerId = await providerOf(db, name, site);
      const regionCode = regions[index] ?? 'eu-west';
      const id = `${name}-${model}-${regionCode}`;
      const data = { id, providerId, regionCode, models: { [model]: provided }, pue: 1.15, telemetry };
      await db.deployment.create({ data });
    }
  }
  for (const { model, kind = 'chat', deployments } of offered) {
    for (const region of regions.slice(0, deployments.length)) await answering(model, kind, region);
    await answering(model, kind);
  }
  return {
    remove: async () => {
      await removeRows(
        db,
        name,
        offered.map(({ model }) => model),
      );
      await db.$disconnect();
    },
  };
}

/** A site is a base URL of its own at the simulator, so that one alone can be told to fail. */
async function providerOf(db: Database, name: string, site: string | undefined): Promise<string> {
  if (site === undefined) return 'simulator';
  const id = `${name}-${site}`;
  const baseUrl = (await db.provider.findUniqueOrThrow({ where: { id: 'simulator' } })).baseUrl;
  const data = { id, name: id, kind: 'simulator' as const, baseUrl: baseUrl.replace(/\/v1\/?$/, `/${site}/v1`) };
  await db.provider.upsert({ where: { id }, create: data, update: data });
  return id;
}

async function removeRows(db: Database, name: string, models: readonly string[] = []): Promise<void> {
  await db.deployment.deleteMany({ where: { id: { startsWith: `${name}-` } } });
  await db.provider.deleteMany({ where: { id: { startsWith: `${name}-` } } });
  await db.model.deleteMany({ where: { id: { in: [...models] } } });
}

function answering(model: string, kind: 'chat' | 'embedding', region?: string): Promise<true> {
  const client = openAi();
  const request = { model, ...(region && { gw: { region } }) };
  const ask = (): Promise<unknown> =>
    kind === 'chat'
      ? client.chat.completions.create({ ...request, messages: [{ role: 'user', content: 'Hi' }] })
      : client.embeddings.create({ ...request, input: 'Hi' });
  return eventually(`${model} in ${region ?? 'any region'}`, () =>
    ask().then(
      () => true as const,
      () => null,
    ),
  );
}

/** Reads of receipts have a small rate of their own. */
const read = (path: string): Promise<HttpReply> =>
  eventually(path, async () => {
    const answer = await get(path);
    if (answer.status === 429) return null;
    expect(answer.status, answer.text).toBe(200);
    return answer;
  });

const lineageReply = z.looseObject({ lineage: z.custom<Lineage>().nullable() });

/** The lineage, once it has been seen to give the receipt's numbers, and the receipt to be the one that is stored. */
export async function provenLineage(receipt: Receipt): Promise<Lineage> {
  const stored = await read(`/v1/gw/receipts/${receipt.id}`);
  expect(receiptSchema.parse(stored.body)).toEqual(receipt);
  const answer = await read(`/v1/gw/lineage/${receipt.id}`);
  const { lineage } = lineageReply.parse(answer.body);
  if (lineage === null) throw new Error(`There is no lineage of ${receipt.id}.`);
  expect(verify(lineage, receipt)).toMatchObject({ ok: true });
  expect(recompute(lineage)).toMatchObject({ ok: true, impact: { energy_wh: receipt.energy_wh } });
  return lineage;
}

/** Wh that the simulator makes up for so many tokens: 640 W, an eighth of them for this call. */
export const simulatedWh = ({ prompt_tokens, completion_tokens }: Receipt): number =>
  (640 * 0.125 * (Number(completion_tokens) / 60 + Number(prompt_tokens) / 3000)) / 3600;

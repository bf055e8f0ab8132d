/**
 * `POST /v1/gw/evidence-pack`, and the same under `/organisation/v1`: receipts of the account as signed JSON-LD.
 *
 * Invariant: a pack that is the reply has a bounded number of receipts. Few packs are made at a time, and few are on their way to clients, because each
 * is held in memory (closed: a further request is told to ask again); no account has more than its share of either, its keys and its
 * people counted together. A job builds a pack with more receipts; entering it needs only Postgres. Such a pack belongs to the account, whoever ordered it: a key
 * can be revoked, and every other key with `gw:export` can read all receipts in the pack anyway.
 */
import { randomUUID } from 'node:crypto';
import { apiError, fieldError } from '@gw/contract/errors';
import { type EvidenceRequest, evidenceRequestSchema, mostReceipts, packJobSchema } from '@gw/contract/evidence';
import { evidencePackSchema } from '@gw/contract/pack/schema';
import type { PackKey } from '@gw/evidence/seal';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { refuse, whenOver } from '../../shared/replies.ts';
import { withStrictBodies } from '../../shared/strict-body.ts';
import type { LedgerPlace } from '../receipts/ledger-place.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { logOf } from './log-proofs.ts';
import { makePack } from './make-pack.ts';
import { mediaTypes } from './media-types.ts';
import type { PackPlaces } from './pack-places.ts';
import { packRoutes, sendState } from './pack-routes.ts';
import { enterPack, mostUnderWay, type PackLimits, quotaReason } from './packs.ts';
import { selectFew } from './select.ts';
import type { Period } from './select-archived.ts';

interface EvidenceServices {
  readonly seals: Seals;
  readonly key: PackKey;
  readonly limits: PackLimits;
  readonly places: PackPlaces;
}

export function evidenceRoutes(
  app: FastifyInstance,
  context: Context,
  services: EvidenceServices,
  at: LedgerPlace,
): void {
  withStrictBodies(app, context, (scope) => registerRoute(scope, context, services, at));
  packRoutes(app, context, services.places.readers, at);
}

function registerRoute(app: FastifyInstance, context: Context, services: EvidenceServices, at: LedgerPlace): void {
  const { addresses, now } = context;
  const stores = { ...context, seals: services.seals };
  const enter = packEntry(context, services, at);
  const { builds, requests } = services.places;
  const options = {
    config: { ...at.config, reply: z.union([evidencePackSchema, packJobSchema]) },
    schema: { body: evidenceRequestSchema },
    onRequest: [...at.demand('gw:export'), placeUntilRead(context, requests, at)],
    onSend: at.onSend,
  };
  app.withTypeProvider<ZodTypeProvider>().post(at.paths.pack, options, async (request, reply) => {
    const accountId = at.accountOf(request);
    const { body: asked } = request;
    const period = periodOf(asked, now());
    if ('code' in period) return refuse(reply, period, addresses);
    const withLineage = asked.include_lineage;
    if (withLineage && !(await at.mayUse(request, 'gw:lineage'))) return refuse(reply, lineageScope, addresses);
    if (asked.format !== 'jsonld') {
      const extra = tableRefusal(asked);
      return extra === null ? enter(request, reply, { asked, period: period.is }) : refuse(reply, extra, addresses);
    }
    const place = builds.take(accountId);
    if ('refused' in place) return refuse(reply, place.refused, addresses);
    try {
      const most = withLineage ? mostReceipts.withLineage : mostReceipts.plain;
      const selection = { asked, period: period.is, most };
      const about = {
        id: randomUUID(),
        issuedAt: now(),
        baseUrl: addresses.baseUrl,
        accountId,
        period: period.is,
        selection: {
          ...asked,
          ...(period.is && { from: period.is.from.toISOString(), to: period.is.to.toISOString() }),
        },
      };
      const log = await logOf(stores.db, about, asked.earlier_tree_size ?? null);
      const selected = await selectFew(stores, accountId, selection);
      if (selected === null) return await enter(request, reply, { asked, period: period.is });
      const choice = { about, log, selected, withLineage, withRouting: asked.include_routing };
      const text = await makePack(stores, { ...choice, key: services.key });
      return reply.type(mediaTypes.jsonld).header('cache-control', 'no-store').send(text);
    } finally {
      place.leave();
    }
  });
}

/**
 * Holds a place from the first moment of a request until its client has read the reply. A reply that is repeated for an
 * `Idempotency-Key` needs a place too.
 */
function placeUntilRead({ addresses }: Context, places: PackPlaces['requests'], { accountOf }: LedgerPlace) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const place = places.take(accountOf(request));
    if ('refused' in place) return refuse(reply, place.refused, addresses);
    whenOver(reply, place.leave);
  };
}

/** Refuses a request for what a table cannot hold. */
function tableRefusal({ earlier_tree_size, format, include_lineage }: EvidenceRequest): ApiError | null {
  const text = `A table (\`format\`: \`${format}\`) has no`;
  if (include_lineage) return fieldError('include_lineage', `include_lineage: ${text} lineages.`);
  return earlier_tree_size === undefined ? null : fieldError('earlier_tree_size', `earlier_tree_size: ${text} proofs.`);
}

const lineageScope = apiError('insufficient_scope', {
  message: '`include_lineage` needs a key with the scope `gw:lineage` as well.',
  param: 'include_lineage',
});

type ApiError = ReturnType<typeof apiError>;

/** `is` null: the receipts are chosen by their ids alone. */
function periodOf({ from, receipt_ids, to }: EvidenceRequest, now: Date): { readonly is: Period | null } | ApiError {
  if (from === undefined && to === undefined) {
    if (receipt_ids !== undefined) return { is: null };
    return apiError('missing_required_parameter', { message: '`from` or `receipt_ids` is required.', param: 'from' });
  }
  if (from === undefined)
    return apiError('missing_required_parameter', { message: '`from` is required.', param: 'from' });
  const period = { from: new Date(from), to: to === undefined ? now : new Date(to) };
  return period.from < period.to ? { is: period } : fieldError('to', 'to: must be after from.');
}

/** Enters a pack for a job, and replies with its location. */
function packEntry({ addresses, db, now }: Context, { limits }: EvidenceServices, { accountOf, paths }: LedgerPlace) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { asked, period }: { readonly asked: EvidenceRequest; readonly period: Period | null },
  ): Promise<FastifyReply> => {
    const accountId = accountOf(request);
    const times = { from: period?.from.toISOString() ?? null, until: period?.to.toISOString() ?? null };
    const entered = await enterPack(db, { accountId, now: now(), request: { asked, ...times } }, limits);
    if ('refused' in entered) {
      const message =
        entered.refused === 'quota'
          ? quotaReason(limits)
          : `This account has ${mostUnderWay} evidence packs under way, as many as it may.`;
      return refuse(reply, apiError('evidence_packs_exceeded', { message, retryAfterS }), addresses);
    }
    return sendState(reply.header('location', `${paths.pack}/${entered.id}`), entered);
  };
}

const retryAfterS = 10;

/**
 * `POST /v1/gw/evidence-pack`: receipts of the account as signed JSON-LD.
 *
 * Invariant: a pack that is the reply is bounded in receipts. Few are made at once, and few are on their way to their clients, since each
 * is held in memory (closed: whoever asks for more is told to ask again); no account has more than its share of either. What has more
 * receipts is entered for a job, and it needs Postgres alone.
 */
import { randomUUID } from 'node:crypto';
import { apiError, fieldError } from '@gw/contract/errors';
import {
  type EvidenceRequest,
  evidencePackSchema,
  evidenceRequestSchema,
  mostReceipts,
  packJobSchema,
} from '@gw/contract/evidence';
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { identityOf } from '../../shared/identity.ts';
import { refuse, whenOver } from '../../shared/replies.ts';
import { withStrictBodies } from '../../shared/strict-body.ts';
import { newestCheckpoint } from '../log/tree.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { makePack } from './make-pack.ts';
import { mediaTypes } from './media-types.ts';
import { packRoutes, sendState } from './pack-routes.ts';
import { enterPack, mostUnderWay, type PackLimits, quotaReason } from './packs.ts';
import { Places } from './places.ts';
import { type Period, selectFew } from './select.ts';

interface EvidenceServices {
  readonly seals: Seals;
  readonly key: SigningKey;
  readonly limits: PackLimits;
}

export function evidenceRoutes(app: FastifyInstance, context: Context, services: EvidenceServices): void {
  withStrictBodies(app, context, (scope) => registerRoute(scope, context, services));
  packRoutes(app, context);
}

function registerRoute(app: FastifyInstance, context: Context, services: EvidenceServices): void {
  const { addresses, now } = context;
  const stores = { ...context, seals: services.seals };
  const enter = packEntry(context, services);
  const builds = new Places({ inAll: 4, ofAccount: 2, what: 'evidence packs being made', retryAfterS: 1 });
  const options = {
    config: { reply: z.union([evidencePackSchema, packJobSchema]) },
    schema: { body: evidenceRequestSchema },
    onRequest: placeUntilRead(context),
  };
  app.withTypeProvider<ZodTypeProvider>().post('/v1/gw/evidence-pack', options, async (request, reply) => {
    const { accountId, scopes } = identityOf(request);
    const { body: asked } = request;
    const period = periodOf(asked, now());
    if ('code' in period) return refuse(reply, period, addresses);
    const withLineage = asked.include_lineage;
    if (withLineage && !scopes.includes('gw:lineage')) return refuse(reply, lineageScope, addresses);
    if (asked.format !== 'jsonld') {
      const extra = tableRefusal(asked);
      return extra === null ? enter(request, reply, { asked, period: period.is }) : refuse(reply, extra, addresses);
    }
    const place = builds.take(accountId);
    if ('refused' in place) return refuse(reply, place.refused, addresses);
    try {
      const most = withLineage ? mostReceipts.withLineage : mostReceipts.plain;
      const selection = { asked, period: period.is, most };
      // Before the receipts: whatever it counts was stored by then.
      const checkpoint = await newestCheckpoint(stores.db, accountId);
      const selected = await selectFew(stores, accountId, selection);
      if (selected === null) return await enter(request, reply, { asked, period: period.is });
      const about = {
        ...{ id: randomUUID(), issuedAt: now(), baseUrl: addresses.baseUrl, accountId, period: period.is },
        selection: {
          ...asked,
          ...(period.is && { from: period.is.from.toISOString(), to: period.is.to.toISOString() }),
        },
      };
      const earlierSize = asked.earlier_tree_size ?? null;
      const choice = { about, checkpoint, earlierSize, selected, withLineage };
      const text = await makePack(stores, { ...choice, key: services.key });
      return reply.type(mediaTypes.jsonld).header('cache-control', 'no-store').send(text);
    } finally {
      place.leave();
    }
  });
}

/**
 * Holds a place from the first moment of a request until its client has read the reply. A reply that is given again for an
 * `Idempotency-Key` needs one too.
 */
function placeUntilRead({ addresses }: Context) {
  const places = new Places({ inAll: 16, ofAccount: 4, what: 'requests for evidence packs under way', retryAfterS: 5 });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const place = places.take(identityOf(request).accountId);
    if ('refused' in place) return refuse(reply, place.refused, addresses);
    whenOver(reply, place.leave);
  };
}

/** What has no place in a table. */
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

/** Null for receipts that are asked for by their ids alone. */
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

/** Enters a pack for a job, and says where it will be. */
function packEntry({ addresses, db, now }: Context, { limits }: EvidenceServices) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { asked, period }: { readonly asked: EvidenceRequest; readonly period: Period | null },
  ): Promise<FastifyReply> => {
    const { accountId } = identityOf(request);
    const times = { from: period?.from.toISOString() ?? null, until: period?.to.toISOString() ?? null };
    const entered = await enterPack(db, { accountId, now: now(), request: { asked, ...times } }, limits);
    if ('refused' in entered) {
      const message =
        entered.refused === 'quota'
          ? quotaReason(limits)
          : `This account has ${mostUnderWay} evidence packs under way, as many as it may.`;
      return refuse(reply, apiError('evidence_packs_exceeded', { message, retryAfterS }), addresses);
    }
    return sendState(reply.header('location', `/v1/gw/evidence-pack/${entered.id}`), entered);
  };
}

const retryAfterS = 10;

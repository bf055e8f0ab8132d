/** `/operator/v1/providers/{id}/test` and `/models`: what a provider itself says. */
import { apiError } from '@gw/contract/errors';
import { apiNames, usualApis } from '@gw/contract/internal/catalogue/apis';
import { slugSchema } from '@gw/contract/internal/catalogue/field';
import { type ProposedModel, proposedModel } from '@gw/methodology/proposed-model';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invalidTransition, notFound } from '../people/access/refusals.ts';
import type { Context } from '../shared/context.ts';
import { refuse } from '../shared/replies.ts';
import type { CredentialView } from './credentials/credentials.ts';
import { deploymentKind } from './entries/deployment-entry.ts';
import { modelKind } from './entries/model-entry.ts';
import { type ProviderEntry, providerKind } from './entries/provider-entry.ts';
import type { ProviderCalls } from './provider-calls.ts';
import { askerFor, listedModels, type Probe, probeProvider } from './provider-probe.ts';
import { proposedApis, type Spoken, spokenApis } from './spoken-apis.ts';
import { adviceOn } from './unshown-counts.ts';

// It may cost money, and it tells who asks what is reachable from here.
const admin = { access: { kind: 'operator', role: 'admin' } } as const;

const params = z.object({ id: slugSchema });
const testBody = z.strictObject({ model: z.string().min(1).max(200).optional() }).nullish();
const unshown = (what: string) =>
  z.literal(true).nullable().describe(`True: it ${what}; null: this call does not tell`);
const testSchema = z.strictObject({
  object: z.literal('provider_test'),
  provider: z.string(),
  model: z.string().describe('As the provider knows it'),
  asked: z.string(),
  works: z.boolean(),
  message: z.string().describe('What came back, and what to do'),
  status: z.int().nullable().describe('Null: there was no reply'),
  duration_ms: z.int(),
  fields: z.array(z.string()).describe('Names of the fields of its usage and of measured energy'),
  hidden_reasoning: unshown('counted more tokens than the text of its answer shows'),
  reads_by_itself: unshown('counted more tokens than the request has'),
  refused_fields: z.array(z.string()).describe('Fields that the gateway adds to a request, and this provider refuses'),
  usage_in_json: z.string().nullable().describe('Where a JSON reply states token counts; null: nowhere'),
  usage_in_stream: z
    .string()
    .nullable()
    .describe('Where a stream states them; null: nowhere, so that they are estimated'),
  apis: z
    .record(z.enum(apiNames), z.enum(['spoken', 'absent', 'unclear']))
    .nullable()
    .describe(
      'Which APIs it speaks, by a small call of each; `unclear`: it offers no model for it, or refused the call for another reason; null: it could not be asked',
    ),
  proposed_apis: z
    .array(z.enum(apiNames))
    .nullable()
    .describe('What its entry should have as `apis`; null: it has that'),
  advice: z.array(z.string()).describe('Commands that enter in the catalogue what was found'),
});
/** As it is entered: a count, or the ends of a range. */
const parametersSchema = z.union([z.number(), z.strictObject({ min: z.number(), max: z.number() })]).nullable();
const proposedSchema = z.strictObject({
  kind: z.enum(['chat', 'embedding']),
  total_parameters_b: parametersSchema,
  active_parameters_b: parametersSchema,
  parameters_source: z
    .string()
    .nullable()
    .describe('Begins with "guessed" where the name alone tells it; null: the size is unknown'),
  model_class: z.string().nullable(),
  quantization_bits: z.number().nullable(),
  tokens_per_s: z.number().nullable(),
  ttft_s: z.number().nullable(),
  hidden_reasoning: z.literal(true).nullable(),
});
const asEntered = (range: ProposedModel['total']) => (range !== null && range.min === range.max ? range.min : range);
const asProposed = (model: ProposedModel): z.infer<typeof proposedSchema> => ({
  kind: model.kind,
  total_parameters_b: asEntered(model.total),
  active_parameters_b: asEntered(model.active),
  parameters_source: model.parametersSource,
  model_class: model.modelClass,
  quantization_bits: model.bits,
  tokens_per_s: model.tokensPerS,
  ttft_s: model.ttftS,
  hidden_reasoning: model.hiddenReasoning,
});
const modelsSchema = z.strictObject({
  object: z.literal('provider_models'),
  provider: z.string(),
  models: z.array(
    z.strictObject({
      id: z.string().describe('As the provider knows it'),
      offered_as: z.array(z.string()).describe('Public ids under which deployments of this provider offer it'),
      proposed: proposedSchema.describe(
        'What its entry should say: what is known of the model, or else what its name tells',
      ),
      because: z.string().describe('The same as a sentence'),
    }),
  ),
});

/** There was no reply, or all others would be refused alike. */
const unaskable: ReadonlySet<number | null> = new Set([null, 401, 402, 403, 429]);

/** Returns the commands that spare the first call of each form from being refused. */
function commandsFor(refused: readonly string[], { id, request_fields }: ProviderEntry, model: string): string[] {
  return refused.map((field) => {
    if (field === 'temperature') return `./gw admin models set ${model} --takes-temperature no`;
    const fields = Object.entries({ ...request_fields, [field]: null }).map(([name, as]) =>
      as === null ? `${name}=` : `${name}=${as}`,
    );
    return `./gw admin providers set ${id} --request-fields ${fields.join()}`;
  });
}

/** `publicId`: the model of the catalogue that the provider serves by this name. */
function testReply(
  provider: ProviderEntry,
  { name, publicId }: { readonly name: string; readonly publicId: string | undefined },
  { durationMs, unshown: counts, ways, ...probe }: Probe,
  apis: Spoken | null,
) {
  const spoken = apiNames.filter((each) => apis?.[each] === 'spoken');
  const entered = provider.apis ?? usualApis;
  const proposed = apis === null ? [] : proposedApis(apis, entered);
  const isNew = proposed.length > 0 && proposed.join() !== apiNames.filter((each) => entered.includes(each)).join();
  const bySome = `By this call it does not work (${probe.message.replace(/\.$/, '')}), but it answers as it should by ${spoken.join(' and ')}.`;
  return {
    object: 'provider_test' as const,
    provider: provider.id,
    model: name,
    ...probe,
    works: probe.works || spoken.length > 0,
    message: (probe.works || spoken.length === 0 ? probe.message : bySome) + adviceOn(counts, publicId ?? null),
    apis,
    proposed_apis: isNew ? proposed : null,
    hidden_reasoning: counts.hiddenReasoning,
    reads_by_itself: counts.readsByItself,
    duration_ms: durationMs,
    fields: [...probe.fields],
    refused_fields: [...(ways?.refused ?? [])],
    usage_in_json: ways?.usageInJson ?? null,
    usage_in_stream: ways?.usageInStream ?? null,
    advice: [
      ...commandsFor(ways?.refused ?? [], provider, publicId ?? name),
      ...(isNew ? [`./gw admin providers set ${provider.id} --apis ${proposed.join()}`] : []),
    ],
  };
}

export function providerRoutes(
  app: FastifyInstance,
  context: Context,
  { calls, credentials }: { readonly calls: ProviderCalls; readonly credentials: CredentialView },
): void {
  const { addresses, db } = context;
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const path = '/operator/v1/providers/:id';
  /** Returns the name by which it serves a model of this kind; null if it offers none. */
  const modelOfKind = async (offered: readonly [publicId: string, name: string][], kind: string) => {
    const kinds = new Map((await modelKind.rows.list(db)).map((each) => [each.id, each.kind]));
    return offered.find(([publicId]) => kinds.get(publicId) === kind)?.[1] ?? null;
  };
  const offers = async (provider: string) =>
    (await deploymentKind.rows.list(db)).filter((each) => each.provider === provider).map(({ models }) => models);

  typed.post(
    `${path}/test`,
    { config: { ...admin, reply: testSchema }, schema: { params, body: testBody } },
    async (request, reply) => {
      const { id } = request.params;
      const provider = await providerKind.rows.find(db, id);
      if (provider === null) return refuse(reply, notFound('provider'), addresses);
      const offered = (await offers(id)).flatMap((models) => Object.entries(models));
      // One that chats tells most.
      const model = request.body?.model ?? (await modelOfKind(offered, 'chat')) ?? offered[0]?.[1];
      if (model === undefined)
        return refuse(reply, invalidTransition('No deployment of it offers a model: name one.'), addresses);
      const publicId = offered.find(([, name]) => name === model)?.[0];
      const entry = publicId === undefined ? null : await modelKind.rows.find(db, publicId);
      const isEmbedding = (entry?.kind ?? proposedModel(model, provider.base_url).kind) === 'embedding';
      const takesTemperature = entry?.takes_temperature ?? true;
      const asked = { calls, model, isEmbedding, takesTemperature };
      const probe = await probeProvider(provider, credentials, asked);
      const others = await modelOfKind(offered, isEmbedding ? 'chat' : 'embedding');
      const models = isEmbedding ? { chat: others, embedding: model } : { chat: model, embedding: others };
      const ask = unaskable.has(probe.status) ? null : askerFor(provider, credentials, calls);
      const known = probe.works ? { [isEmbedding ? 'embeddings' : 'chat']: 'spoken' as const } : {};
      const apis = ask && (await spokenApis(ask, models, known));
      return testReply(provider, { name: model, publicId }, probe, apis);
    },
  );

  typed.get(
    `${path}/models`,
    { config: { ...admin, reply: modelsSchema }, schema: { params } },
    async (request, reply) => {
      const { id } = request.params;
      const provider = await providerKind.rows.find(db, id);
      if (provider === null) return refuse(reply, notFound('provider'), addresses);
      const listed = await listedModels(provider, credentials, calls);
      if (!listed.ok) return refuse(reply, apiError('provider_unavailable', { message: listed.error }), addresses);
      const offered = (await offers(id)).flatMap((models) => Object.entries(models));
      const models = listed.value.map((name) => {
        const publicIds = offered.filter(([, known]) => known === name).map(([publicId]) => publicId);
        const model = proposedModel(name, provider.base_url);
        const offeredAs = [...new Set(publicIds)];
        return { id: name, offered_as: offeredAs, proposed: asProposed(model), because: model.because };
      });
      return { object: 'provider_models' as const, provider: id, models };
    },
  );
}

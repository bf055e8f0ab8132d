/** `/operator/v1/credentials`: the credentials of providers. No reply holds one. */
import { pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { type ChangeResult, notFound } from '../../people/access/refusals.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { openCredentialChanges } from './changes.ts';
import { type CredentialSettings, credentialName, credentialValue } from './config.ts';
import type { Credentials, KnownCredential } from './credentials.ts';

const viewer = { access: { kind: 'operator', role: 'viewer' } } as const;
const admin = { access: { kind: 'operator', role: 'admin' } } as const;

const shownSchema = z.strictObject({
  name: z.string().describe('Providers name it in `credential_ref`'),
  object: z.literal('provider_credential'),
  source: z.enum(['operator', 'file', 'environment']).describe('Who gives it'),
  origin: z.string().nullable().describe('Where it is sent, and nowhere else; null: wherever a provider names it'),
  set_at: z.iso.datetime().nullable(),
  has_previous: z.boolean().describe('Whether the one before can be put back'),
  readable: z.boolean().describe('False: it was set with another GW_CREDENTIALS_KEY'),
  providers: z.array(z.string()).describe('Ids of those that name it'),
});
const removedSchema = z.strictObject({
  id: z.string(),
  object: z.literal('provider_credential'),
  deleted: z.literal(true),
});
const params = z.object({ name: z.string().regex(credentialName, 'must be capital letters, digits and underscores') });
const setBody = z.strictObject({
  value: z.string().regex(credentialValue, 'must be one line of visible characters, of at most 8,192'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .optional(),
});

export interface CredentialServices {
  readonly credentials: Credentials;
  readonly settings: CredentialSettings;
}

export function credentialRoutes(
  app: FastifyInstance,
  context: Context,
  { credentials, settings }: CredentialServices,
): void {
  const path = '/operator/v1/credentials';
  const changes = openCredentialChanges(context.db, settings.vault);
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const shown = async (known: readonly KnownCredential[]) => {
    const providers = await context.db.provider.findMany({ orderBy: { id: 'asc' } });
    return known.map(({ hasPrevious, isReadable, name, origin, setAt, source }) => ({
      name,
      object: 'provider_credential' as const,
      source,
      origin,
      set_at: setAt?.toISOString() ?? null,
      has_previous: hasPrevious,
      readable: isReadable,
      providers: providers.filter(({ credentialRef }) => credentialRef === name).map(({ id }) => id),
    }));
  };
  /** Envoy gets it from here on; other instances read it within a second. */
  const changed = async (outcome: ChangeResult<string>) => {
    if (!outcome.ok) return outcome;
    await credentials.refresh();
    const [entry] = await shown(credentials.list().filter(({ name }) => name === outcome.value));
    return { ok: true, value: entry } as const;
  };

  typed.get(path, { config: { ...viewer, reply: pageSchema(shownSchema) } }, async () =>
    pageOf(await shown(credentials.list()), ({ name }) => name),
  );
  const changing = { config: { ...admin, reply: shownSchema }, schema: { params } };
  typed.put(`${path}/:name`, { ...changing, schema: { params, body: setBody } }, async (request, reply) => {
    const { base_url, value } = request.body;
    const { name } = request.params;
    const outcome = await changes.set(changeOf(request, context), name, value, base_url ?? null);
    return answer(reply, await changed(outcome), context);
  });
  typed.post(`${path}/:name/restore`, changing, async (request, reply) =>
    answer(reply, await changed(await changes.restore(changeOf(request, context), request.params.name)), context),
  );
  typed.delete(
    `${path}/:name`,
    { config: { ...admin, reply: removedSchema }, schema: { params } },
    async (request, reply) => {
      const { name } = request.params;
      const known = credentials.list().find((each) => each.name === name);
      if (known === undefined) return refuse(reply, notFound('provider_credential'), context.addresses);
      const outcome = await changes.remove(changeOf(request, context), name, credentials.isGivenToo(name));
      await credentials.refresh();
      if (!outcome.ok) return refuse(reply, outcome.error, context.addresses);
      return { id: name, object: 'provider_credential' as const, deleted: true as const };
    },
  );
}

/**
 * Providers as operators look after them.
 *
 * Invariant: no secret is here: a provider names its credential, and the address can hold none. A credential is sent to the
 * address that it was named for: whoever changes the address names it anew.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { refusedHost } from '@gw/contract/internal/refused-host';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { nameSchema } from '../people/access/fields.ts';
import { type EntryKind, namesOf, slug, withGiven } from './entry-kind.ts';

const idSchema = z.string().regex(slug, 'must be at most 63 letters, digits, dashes and underscores');

/** Up to and without the endpoint. */
const baseUrl = z
  .string()
  .max(500)
  .refine(isPlainUrl, {
    error: 'must be an http(s) address without user, password, query and fragment',
    abort: true,
  })
  // A name that leads to such an address by DNS is not seen here.
  .refine((text) => refusedHost(text) === null, {
    error: ({ input }) => `leads to a host that is never asked (${refusedHost(String(input))})`,
  })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''));

/** What Envoy or HTTP itself sets, and what is ours. */
const taken = /^(host|content-.*|connection|transfer-encoding|te|upgrade|cookie|accept.*|expect|x-gw-.*|x-envoy-.*)$/;
const headerSchema = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be the name of a header')
  .refine((name) => !taken.test(name), 'must be a header that carries a credential');

const fields = z.strictObject({
  name: nameSchema,
  kind: z.enum(['openai', 'simulator']),
  base_url: baseUrl,
  auth_header: headerSchema.nullable(),
  auth_scheme: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,40}$/, 'must be one word like Bearer')
    .nullable(),
  credential_ref: z
    .string()
    .regex(/^[A-Z0-9_]{1,64}$/, 'must be the NAME of GW_CREDENTIAL_<NAME>, never the credential')
    .nullable(),
});
const addBody = fields.partial().required({ name: true, base_url: true }).extend({ id: idSchema });
const changeBody = fields.partial();

export interface ProviderEntry extends z.infer<typeof fields> {
  readonly id: string;
  readonly object: 'provider';
}

export const providerKind: EntryKind<ProviderEntry> = {
  name: 'provider',
  path: '/operator/v1/providers',
  idOf: ({ id }) => id,
  idSchema,
  addBody,
  changeBody,
  added: (body) => {
    const given = addBody.parse(body);
    const { base_url, id, name, credential_ref = null } = given;
    // As OpenAI takes it, unless it was said otherwise.
    const auth_header = given.auth_header ?? (credential_ref === null ? null : 'authorization');
    const auth_scheme = given.auth_scheme ?? (auth_header === 'authorization' ? 'Bearer' : null);
    const kind = given.kind ?? 'openai';
    return { id, object: 'provider', name, kind, base_url, auth_header, auth_scheme, credential_ref };
  },
  changed: (before, body) => withGiven(before, changeBody.parse(body)),
  refusal: async (_tx, { auth_header, auth_scheme, credential_ref }) => {
    if (auth_header !== null) return null;
    if (credential_ref !== null)
      return fieldError('auth_header', 'auth_header: is needed, since the credential is sent in it.');
    return auth_scheme === null ? null : fieldError('auth_scheme', 'auth_scheme: there is no header to put it in.');
  },
  changeRefusal: (before, after, body) =>
    changeBody.parse(body).credential_ref === undefined ? movedCredential(before, after) : null,
  usedBy: async (tx, id) => {
    const found = await tx.deployment.findMany({ where: { providerId: id }, orderBy: { id: 'asc' } });
    return found.length === 0 ? null : `deployments belong to it: ${namesOf(found.map((each) => each.id))}`;
  },
  warnings: ({ auth_header, base_url, credential_ref: ref }, { credentials }) => [
    ...(ref === null && auth_header !== null ? ['It names a header but no credential: calls go without one.'] : []),
    ...(ref !== null && !credentials.has(ref)
      ? [`GW_CREDENTIAL_${ref} is not in the environment of this control plane: calls are answered with an error.`]
      : []),
    ...(refusedHost(base_url) === null
      ? []
      : [`Its address is one that would be refused today (${refusedHost(base_url)}).`]),
    ...(ref !== null && base_url.startsWith('http:') && !isLoopback(base_url)
      ? ['The credential goes over the network unencrypted: the address is not https.']
      : []),
  ],
  rows: {
    list: async (tx) => (await tx.provider.findMany({ orderBy: { id: 'asc' } })).map(entryOf),
    find: async (tx, id) => {
      const row = await tx.provider.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.provider.create({ data: { ...dataOf(entry), id: entry.id } }),
    update: (tx, entry) => tx.provider.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.provider.delete({ where: { id } }),
  },
};

/** The origin, so that a credential does not go unencrypted either where it went encrypted before. */
function movedCredential(before: ProviderEntry, after: ProviderEntry): ApiError | null {
  const [from, to] = [before, after].map(({ base_url }) => new URL(base_url).origin);
  if (from === to || after.credential_ref === null) return null;
  return apiError('missing_required_parameter', {
    param: 'credential_ref',
    message: `base_url moves from ${from} to ${to}, and GW_CREDENTIAL_${after.credential_ref} would be sent there: name \`credential_ref\` in the same change, the same one or another or none.`,
  });
}

function isPlainUrl(text: string): boolean {
  // A lone question mark is an empty query, which the parsed address does not show.
  if (!URL.canParse(text) || /[?#\s\\@]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.hostname !== '' && url.port !== '0';
}

const isLoopback = (text: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(text).hostname);

const dataOf = (entry: ProviderEntry) => ({
  name: entry.name,
  kind: entry.kind,
  baseUrl: entry.base_url,
  authHeader: entry.auth_header,
  authScheme: entry.auth_scheme,
  credentialRef: entry.credential_ref,
});

const entryOf = (row: Prisma.ProviderGetPayload<object>): ProviderEntry => ({
  id: row.id,
  object: 'provider',
  name: row.name,
  kind: row.kind,
  base_url: row.baseUrl,
  auth_header: row.authHeader,
  auth_scheme: row.authScheme,
  credential_ref: row.credentialRef,
});

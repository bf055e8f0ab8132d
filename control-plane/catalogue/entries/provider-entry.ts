/**
 * Providers as operators look after them.
 *
 * Invariant: no secret is here: a provider names its credential, and the address can hold none. A credential is sent to
 * the address that it was named for: whoever changes the address names it anew. So it is with the mark `local`.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { expiredCertificates } from '@gw/contract/internal/catalogue/certificates';
import { type EntryFields, slugSchema } from '@gw/contract/internal/catalogue/field';
import { providerFields } from '@gw/contract/internal/catalogue/provider-fields';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { refusedHost } from '@gw/contract/internal/refused-host';
import { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { aliasesNaming } from './alias-use.ts';
import { columnsOf, entryBodies, fieldsIn, type Given, newFields } from './entry-fields.ts';
import { type EntryKind, namesOf, withGiven } from './entry-kind.ts';

const { addBody, changeBody, shown } = entryBodies(providerFields, { id: slugSchema });
type ProviderRow = Prisma.ProviderGetPayload<object>;

export interface ProviderEntry extends EntryFields<typeof providerFields> {
  readonly id: string;
  readonly object: 'provider';
}

export const providerKind: EntryKind<ProviderEntry> = {
  name: 'provider',
  path: '/operator/v1/providers',
  idOf: ({ id }) => id,
  idSchema: slugSchema,
  addBody,
  changeBody,
  shown,
  added: (body) => {
    const given = addBody.parse(body);
    const { auth_header: header, credential_ref: ref }: Given<typeof providerFields> = given;
    // As OpenAI takes it, unless it was said otherwise.
    const auth_header = header ?? (ref == null ? null : 'authorization');
    const auth_scheme = auth_header === 'authorization' ? 'Bearer' : null;
    const fields = newFields(providerFields, given, { auth_header, auth_scheme });
    return { id: slugSchema.parse(given.id), object: 'provider', ...fields };
  },
  changed: (before, body) => {
    const given = changeBody.parse(body);
    const after = withGiven(before, given);
    // The mark says something about the way to one place.
    return hasMoved(before, after) && given.local === undefined ? { ...after, local: false } : after;
  },
  address: (body) => {
    const url = addressed.safeParse(body).data?.base_url;
    return url === undefined ? null : { field: 'base_url', url };
  },
  kept: () => ({}),
  refusal: async (_tx, { auth_header, auth_scheme, base_url, credential_ref, headers, local }) => {
    const plain = plainHttp(base_url, local);
    if (plain !== null) return fieldError('base_url', `base_url: ${plain}`);
    if (auth_header !== null && Object.hasOwn(headers ?? {}, auth_header))
      return fieldError('headers', `headers: ${auth_header} carries the credential.`);
    if (auth_header !== null) return null;
    if (credential_ref !== null)
      return fieldError('auth_header', 'auth_header: is needed, since the credential is sent in it.');
    return auth_scheme === null ? null : fieldError('auth_scheme', 'auth_scheme: there is no header to put it in.');
  },
  changeRefusal: (before, after, body) =>
    (namesCredential.safeParse(body).success ? null : movedCredential(before, after)) ?? movedMark(before, after),
  // The file names the credential beside each address, so nobody has said that it is to go elsewhere.
  moved: ({ after, before }) => {
    const [from, to] = [before, after].map((each) => addressed.safeParse(each).data?.base_url);
    return from === undefined || to === undefined || new URL(from).origin === new URL(to).origin
      ? []
      : [
          `It moves from ${new URL(from).origin} to ${new URL(to).origin}, and so does its credential, unless an operator has set it.`,
        ];
  },
  usedBy: async (tx, id) => {
    const found = await tx.deployment.findMany({ where: { providerId: id }, orderBy: { id: 'asc' } });
    if (found.length > 0) return `deployments belong to it: ${namesOf(found.map((each) => each.id))}`;
    return aliasesNaming(tx, ({ provider }) => provider === id);
  },
  warnings: ({ auth_header, base_url, ca, credential_ref: ref, local }, { credentials }) => [
    ...caWarnings(base_url, ca),
    ...(ref === null && auth_header !== null ? ['It names a header but no credential: calls go without one.'] : []),
    ...(ref !== null && credentials.find(ref, base_url) === null
      ? [
          `There is no credential ${ref} for ${new URL(base_url).origin}: calls are answered with an error. ./gw admin credentials set ${ref} --url ${new URL(base_url).origin} takes it on standard input.`,
        ]
      : []),
    ...(refusedHost(base_url) === null
      ? []
      : [`Its address is one that would be refused today (${refusedHost(base_url)}).`]),
    ...(plainHttp(base_url, local) === null
      ? []
      : [`Its address would be refused today: ${plainHttp(base_url, local)}`]),
    ...(ref !== null && !isConfidentialUrl(base_url)
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

/** Returns why calls must not go to a plain address, and what to do; null if they may. */
const plainHttp = (url: string, isLocal: boolean): string | null =>
  isLocal || isConfidentialUrl(url)
    ? null
    : `it is plain http to ${new URL(url).host}, and what is sent can be read on the way. Use https, or say \`local: true\` (in the shell \`--local yes\`) if the way there is your own network.`;

function caWarnings(url: string, ca: string | null): string[] {
  if (ca === null) return [];
  if (!url.startsWith('https:')) return ['Its ca is not used: the address is not https.'];
  return expiredCertificates(ca, new Date()).map((each) => `Its ca holds a certificate that has expired: ${each}.`);
}

const addressed = z.object({ base_url: z.string() });
const namesCredential = z.looseObject({ credential_ref: z.string().nullable() });

const originOf = ({ base_url }: ProviderEntry): string => new URL(base_url).origin;
const hasMoved = (before: ProviderEntry, after: ProviderEntry): boolean => originOf(before) !== originOf(after);

/** Says why a provider that was marked is refused all the same. */
function movedMark(before: ProviderEntry, after: ProviderEntry): ApiError | null {
  const plain = before.local && hasMoved(before, after) ? plainHttp(after.base_url, after.local) : null;
  if (plain === null) return null;
  return fieldError('base_url', `base_url: ${plain} It was marked for ${originOf(before)} alone.`);
}

/** Refuses another origin, scheme included, if the credential would go there without having been named for it. */
function movedCredential(before: ProviderEntry, after: ProviderEntry): ApiError | null {
  const [from, to] = [before, after].map(originOf);
  if (from === to || after.credential_ref === null) return null;
  return apiError('missing_required_parameter', {
    param: 'credential_ref',
    message: `base_url moves from ${from} to ${to}, and the credential ${after.credential_ref} would be sent there: name \`credential_ref\` in the same change, the same one or another or none.`,
  });
}

const dataOf = (entry: ProviderEntry) =>
  ({
    ...columnsOf(providerFields, entry),
    // JSON's null is stored as SQL's.
    headers: entry.headers ?? Prisma.DbNull,
    requestFields: entry.request_fields ?? Prisma.DbNull,
  }) as Omit<Prisma.ProviderUncheckedCreateInput, 'id'>;

const entryOf = (row: ProviderRow): ProviderEntry => ({
  id: row.id,
  object: 'provider',
  ...fieldsIn(providerFields, { ...row }),
});

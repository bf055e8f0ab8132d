/** The fields of a provider. The services get none of them: Envoy is told by xDS where and how to call it. */
import { z } from 'zod';
import { refusedHost } from '../refused-host.ts';
import { type FieldTable, nameSchema } from './field.ts';

export const providerIdDoc = 'deployments name it';

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

function isPlainUrl(text: string): boolean {
  // A lone question mark is an empty query, which the parsed address does not show.
  if (!URL.canParse(text) || /[?#\s\\@]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.hostname !== '' && url.port !== '0';
}

/** What Envoy or HTTP itself sets, and what is ours. */
const taken = /^(host|content-.*|connection|transfer-encoding|te|upgrade|cookie|accept.*|expect|x-gw-.*|x-envoy-.*)$/;
const headerSchema = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be the name of a header')
  .refine((name) => !taken.test(name), 'must be a header that carries a credential');

export const providerFields = {
  name: { entry: nameSchema, needed: true, option: 'name', help: 'for people' },
  kind: {
    ...{ entry: z.enum(['openai', 'simulator']), otherwise: 'openai', option: 'kind' },
    help: 'openai (unless given) or simulator',
    doc: '`openai`, or `simulator`, which gets the `x-sim-*` headers too',
  },
  base_url: {
    // It may have been stored by a release that refused less.
    ...{ entry: baseUrl, shown: z.string(), needed: true, option: 'url' },
    help: 'up to and without the endpoint: https://llm.example.com/v1',
  },
  auth_header: {
    ...{ entry: headerSchema.nullable(), option: 'auth-header' },
    help: 'that carries it, or none; authorization unless given',
    doc: 'the header that carries the credential; `authorization` unless given',
  },
  auth_scheme: {
    entry: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,40}$/, 'must be one word like Bearer')
      .nullable(),
    ...{ option: 'auth-scheme', help: 'in front of it, or none; Bearer unless given' },
    doc: 'what stands in front of it; `Bearer` unless given',
  },
  credential_ref: {
    entry: z
      .string()
      .regex(
        /^[A-Z0-9_]{1,64}$/,
        'must be the NAME of a credential (capital letters, digits, underscores), never the credential',
      )
      .nullable(),
    ...{ otherwise: null, option: 'credential', help: 'the NAME of a credential, or none; never the credential' },
    doc: 'the NAME of a [credential](#credentials), never the credential',
  },
} as const satisfies FieldTable;

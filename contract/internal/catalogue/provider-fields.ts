/** The fields of a provider. The services only learn whether it is a simulator; Envoy gets the rest by xDS. */
import { z } from 'zod';
import { apiNames, apisSchema, usualApis } from './apis.ts';
import { certificatesFault, certificatesIn, maxPemLength } from './certificates.ts';
import { type FieldTable, nameSchema, optionalNumber } from './field.ts';
import { pathPattern } from './provider-path.ts';
import { refusedHost } from './refused-host.ts';
import { areRequestFields, type RequestFields, variedFields } from './request-fields.ts';

export const providerIdDoc = 'deployments name it';

/** Without the endpoint. */
const baseUrl = z
  .string()
  .max(500)
  .refine(isPlainUrl, {
    error: 'must be an http(s) address without user, password, query and fragment',
    abort: true,
  })
  // This does not resolve names.
  .refine((text) => refusedHost(text) === null, {
    error: ({ input }) => `leads to a host that is not allowed (${refusedHost(String(input))})`,
  })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''));

function isPlainUrl(text: string): boolean {
  // A lone question mark is an empty query, which the parsed URL does not show.
  if (!URL.canParse(text) || /[?#\s\\@]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.hostname !== '' && url.port !== '0';
}

/** Headers that Envoy or HTTP itself sets, and our own. */
const taken = /^(host|content-.*|connection|transfer-encoding|te|upgrade|cookie|accept.*|expect|x-gw-.*|x-envoy-.*)$/;
const headerName = /^[a-z0-9-]{1,64}$/;
const headerSchema = z
  .string()
  .toLowerCase()
  .regex(headerName, 'must be the name of a header')
  .refine((name) => !taken.test(name), 'must be a header that carries a credential');

type Pairs<T> = Readonly<Record<string, T>>;
const pairs = <T extends z.ZodType>(value: T) => z.record(z.string(), value);
const mostPairs = 50;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length <= mostPairs;

/** Headers that carry a credential or come from the client. */
const notStatic =
  /^(authorization|.*api-?key.*|.*token.*|.*secret.*|traceparent|user-agent|x-request-id|x-forwarded-.*)$/;
const headerValue = /^(?!.*%)[\x21-\x7e](?:[\x20-\x7e]{0,498}[\x21-\x7e])?$/;
const areHeaders = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, text]) =>
      headerName.test(name) &&
      !taken.test(name) &&
      !notStatic.test(name) &&
      typeof text === 'string' &&
      headerValue.test(text),
  );
/** JSON Schema of `areHeaders`, which checks the whole value so that no error code is derived from a header name. */
const headersSchema = {
  type: 'object',
  maxProperties: mostPairs,
  propertyNames: {
    pattern: headerName.source,
    not: { anyOf: [{ pattern: taken.source }, { pattern: notStatic.source }] },
  },
  additionalProperties: { type: 'string', pattern: headerValue.source },
} as const;
const headersComplaint =
  'must be an object: name of a header in small letters → its value (without a percent sign); none that carries a credential or comes from the client';

const requestFieldsComplaint = `must be an object: field → the name that the provider takes it by, or null to leave it out (but for a bound of tokens); each name once; of ${variedFields.join(', ')}`;
const requestFieldsSchema = {
  type: 'object',
  propertyNames: { enum: [...variedFields] },
  additionalProperties: { enum: [...variedFields, null] },
} as const;

/** Kept without what stands between the certificates. */
const certificates = z
  .string()
  .max(maxPemLength)
  .superRefine((text, context) => {
    const fault = certificatesFault(text);
    if (fault !== null) context.addIssue(fault);
  })
  .transform((text) => `${certificatesIn(text).join('\n')}\n`);

/** Types of tools, without the date that some end with. `mcp` would call servers of the client's choice. */
const hostedToolsSchema = z
  .array(
    z.string().regex(/^(?!mcp)[a-z][a-z0-9_]{0,63}$/, 'must be the type of a tool, like web_search, and none of mcp'),
  )
  .max(32)
  .transform((types) => [...new Set(types)]);

export const providerFields = {
  name: { entry: nameSchema, needed: true, option: 'name', help: 'for people' },
  kind: {
    entry: z.enum(['openai', 'simulator']),
    otherwise: 'openai',
    option: 'kind',
    help: 'openai (unless given) or simulator',
    doc: '`openai`, or `simulator`, which gets the `x-sim-*` headers too, and whose calls are marked as simulated',
  },
  apis: {
    entry: apisSchema,
    shown: z.array(z.string()),
    otherwise: usualApis,
    option: 'apis',
    form: 'words',
    help: `the APIs that it speaks: any of ${apiNames.join(', ')}, separated by commas; ${usualApis.join(',')} unless given`,
    doc: `the APIs that it speaks, any of ${apiNames.map((name) => `\`${name}\``).join(', ')}: [it gets the calls of these](#the-apis-of-a-provider). ${usualApis.map((name) => `\`${name}\``).join(', ')} unless given`,
  },
  hosted_tools: {
    entry: hostedToolsSchema,
    shown: z.array(z.string()),
    otherwise: [],
    option: 'hosted-tools',
    form: 'words',
    help: 'tools that it may run by itself for clients: web_search,web_fetch, separated by commas; none unless given',
    doc: '[tools that it may run by itself](#tools-that-a-provider-runs) for clients of Responses and Messages, by their types without a date: `web_search`; none unless given',
  },
  base_url: {
    // Replies show the text as it is stored; only entries are checked and rewritten.
    entry: baseUrl,
    shown: z.string(),
    needed: true,
    option: 'url',
    help: 'without the endpoint: https://llm.example.com/v1',
  },
  local: {
    entry: z.boolean(),
    otherwise: false,
    option: 'local',
    form: 'yes_or_no',
    help: 'yes or no: plain http is allowed, because the way to it is your own network',
    doc: 'true: plain http is allowed, because the way to this provider is your own network; false unless given, and not needed for loopback',
  },
  path: {
    entry: z
      .string()
      .transform((text) => text.replace(/^\/+/, ''))
      .pipe(z.string().regex(pathPattern, 'must be a path with {endpoint} in it, like {endpoint}'))
      .nullable(),
    shown: z.string().nullable(),
    otherwise: null,
    option: 'path',
    help: 'under the URL, with {endpoint} and, if need be, {model}: openai/deployments/{model}/{endpoint}?api-version=…; or none',
    doc: 'where under `base_url` an endpoint is, with `{endpoint}` and, if need be, `{model}` (the name that the provider knows it by), and a query; `{endpoint}` unless given',
  },
  headers: {
    entry: z.custom<Pairs<string>>(areHeaders, headersComplaint).meta(headersSchema).nullable(),
    shown: pairs(z.string()).nullable(),
    otherwise: null,
    option: 'headers',
    form: 'pairs',
    help: 'further headers of each call: name=value, separated by commas; or none. Never a credential',
    doc: 'further headers of each call. Never a credential, because the catalogue shows them',
  },
  request_fields: {
    entry: z
      .custom<RequestFields>((value) => isObject(value) && areRequestFields(value), requestFieldsComplaint)
      .meta(requestFieldsSchema)
      .nullable(),
    shown: pairs(z.string().nullable()).nullable(),
    otherwise: null,
    option: 'request-fields',
    form: 'pairs',
    help: 'fields that it takes by another name, or not at all: max_completion_tokens=max_tokens,seed=; or none',
    doc: 'fields of a request that it takes by another name, or not at all (null): `{"max_completion_tokens": "max_tokens", "seed": null}`',
  },
  ca: {
    entry: certificates.nullable(),
    shown: z.string().nullable(),
    otherwise: null,
    option: 'ca',
    form: 'file',
    help: 'file with the certificates (PEM) of the authority that signs its own, for https with a private CA; or none',
    doc: 'PEM of the authorities that may sign its certificate, for https with a [private CA](#certificates): at most 50 certificates. They count instead of those of the system. In the shell the name of a file',
  },
  timeout_s: {
    entry: z.int().min(1).max(3600).nullable(),
    ...optionalNumber,
    option: 'timeout-s',
    help: 'seconds that a whole JSON reply may take, or none for what the gateway allows',
    doc: 'seconds that a whole JSON reply may take, for calls that begin here; `GW_UPSTREAM_TIMEOUT_S` unless given',
  },
  first_byte_timeout_s: {
    entry: z.int().min(1).max(3600).nullable(),
    ...optionalNumber,
    option: 'first-byte-timeout-s',
    help: 'seconds until the headers of a stream, before another deployment is tried; or none',
    doc: 'seconds until the headers of a stream, before another deployment is tried, for calls that begin here; `GW_FIRST_BYTE_TIMEOUT_S` unless given',
  },
  health_path: {
    entry: z
      .string()
      .regex(/^\/[\w.~%!$&'()*+,;=:@/?-]{0,299}$/, 'must be a path from the root of the address, like /health')
      .nullable(),
    shown: z.string().nullable(),
    otherwise: null,
    option: 'health-path',
    help: 'health endpoint without a credential, from the root of the address: /health; or none',
    doc: 'health endpoint, from the root of its address, free of charge and without a credential: `/health`. While it does not answer 2xx, the provider [gets no calls](routing.md#health). For servers of your own',
  },
  auth_header: {
    entry: headerSchema.nullable(),
    option: 'auth-header',
    help: 'header of the credential, or none; default authorization',
    doc: 'header of the credential; default `authorization`',
  },
  auth_scheme: {
    entry: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,40}$/, 'must be one word like Bearer')
      .nullable(),
    option: 'auth-scheme',
    help: 'scheme in front of the credential, or none; default Bearer',
    doc: 'scheme in front of the credential; default `Bearer`',
  },
  credential_ref: {
    entry: z
      .string()
      .regex(
        /^[A-Z0-9_]{1,64}$/,
        'must be the NAME of a credential (capital letters, digits, underscores), never the credential',
      )
      .nullable(),
    otherwise: null,
    option: 'credential',
    help: 'the NAME of a credential, or none; never the credential',
    doc: 'the NAME of a [credential](#credentials), never the credential',
  },
} as const satisfies FieldTable;

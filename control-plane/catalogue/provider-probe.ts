/**
 * Asks a provider by the way of calls: one call, or its list of models.
 *
 * Invariant: the credential goes to the provider alone, as Envoy would send it, and is in nothing that is told. A provider may
 * repeat it, so nothing of what it says is passed on but names of models and of fields, and its status.
 */

import { endpointUrl } from '@gw/contract/internal/catalogue/provider-path';
import { jsonIn } from '@gw/contract/internal/json-in';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { z } from 'zod';
import type { CredentialView } from './credentials/credentials.ts';
import type { ProviderEntry } from './entries/provider-entry.ts';
import type { ProviderCalls } from './provider-calls.ts';
import { findWays, type ProviderWays } from './provider-ways.ts';
import type { Ask } from './spoken-apis.ts';
import { type UnshownCounts, unshownCounts } from './unshown-counts.ts';

export interface Probe {
  readonly asked: string;
  /** Null: there was no reply. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly works: boolean;
  /** One sentence: what came back, and what to do. */
  readonly message: string;
  /** Fields of its usage, and of measured energy, as names. */
  readonly fields: readonly string[];
  readonly unshown: UnshownCounts;
  /** Null for a provider that does not work, and for embeddings, to which the gateway adds nothing. */
  readonly ways: ProviderWays | null;
}

/** The bodies that are sent here are shorter. */
const mostRequestBytes = 512;

type Headers = Readonly<Record<string, string>>;

/** Returns the headers of a call, or what is missing for it. */
function headersFor(provider: ProviderEntry, credentials: CredentialView): Result<Headers, string> {
  const { auth_header, auth_scheme, base_url, credential_ref: ref } = provider;
  const plain = { ...provider.headers, accept: 'application/json', 'content-type': 'application/json' };
  if (ref === null || auth_header === null) return ok(plain);
  const value = credentials.find(ref, base_url);
  if (value === null)
    return err(`There is no credential ${ref} for ${new URL(base_url).origin}: ./gw admin credentials set ${ref}.`);
  return ok({ ...plain, [auth_header]: auth_scheme === null ? value : `${auth_scheme} ${value}` });
}

/** Returns how to send it a body, by any of its endpoints; null without its credential. */
export function askerFor(provider: ProviderEntry, credentials: CredentialView, calls: ProviderCalls): Ask | null {
  const headers = headersFor(provider, credentials);
  if (!headers.ok) return null;
  return (endpoint, body, more) =>
    calls.send(provider, {
      method: 'POST',
      url: endpointUrl(provider, endpoint, body.model),
      headers: { ...headers.value, ...more },
      body: JSON.stringify(body),
    });
}

/** Makes one call of at most a few tokens, which the provider may charge for. `model`: as the provider knows it. */
export async function probeProvider(
  provider: ProviderEntry,
  credentials: CredentialView,
  {
    calls,
    isEmbedding,
    model,
    takesTemperature,
  }: {
    readonly calls: ProviderCalls;
    readonly isEmbedding: boolean;
    readonly model: string;
    readonly takesTemperature: boolean;
  },
): Promise<Probe> {
  const url = endpointUrl(provider, isEmbedding ? 'embeddings' : 'chat/completions', model);
  const asked = `POST ${url}`;
  const headers = headersFor(provider, credentials);
  const nothing = { status: null, durationMs: 0, works: false, fields: [], ways: null };
  const none = { asked, ...nothing, unshown: unshownCounts(null, 0) };
  if (!headers.ok) return { ...none, message: headers.error };
  const chat = (limit: string) => ({ messages: [{ role: 'user', content: 'Hello' }], [limit]: 16 });
  const send = (request: object) => {
    const body = JSON.stringify({ model, ...request });
    return calls.send(provider, { method: 'POST', url, headers: headers.value, body });
  };
  let request: object = isEmbedding ? { input: 'Hello' } : chat('max_tokens');
  let reply = await send(request);
  // Models that think know it by another name alone.
  if (reply.ok && reply.value.status === 400 && !isEmbedding) {
    request = chat('max_completion_tokens');
    reply = await send(request);
  }
  if (!reply.ok) return { ...none, message: reply.error };
  const { durationMs, status } = reply.value;
  const json = jsonIn(reply.value.body);
  const failure = reasonOf(status, provider) ?? shapeFault(json, isEmbedding);
  const fields = fieldsOf(json);
  const unshown = unshownCounts(json, mostRequestBytes);
  const probe = {
    asked,
    status,
    durationMs,
    works: failure === null,
    message: failure ?? 'It answers as it should.',
    fields,
    unshown,
  };
  if (failure !== null || isEmbedding) return { ...probe, ways: null };
  const again = async (body: object) => {
    const next = await send(body);
    return next.ok ? next.value : null;
  };
  const absent = Object.entries(provider.request_fields ?? {}).flatMap(([name, as]) => (as === null ? [name] : []));
  const leftOut = takesTemperature ? absent : [...absent, 'temperature'];
  return { ...probe, ways: await findWays(again, request, reply.value.body, leftOut) };
}

function reasonOf(status: number, { credential_ref: ref }: ProviderEntry): string | null {
  if (status === 200) return null;
  if (status === 401 || status === 403)
    return ref === null
      ? `It asks for a credential (${status}), and the provider names none: ./gw admin providers set … --credential NAME.`
      : `It refuses the credential ${ref} (${status}).`;
  if (status === 404) return 'It has no such endpoint or model (404). Is the API at another path, for example /v1?';
  if (status === 429) return 'It reports too many calls or an exhausted account (429).';
  if (status >= 300 && status < 400) return `It redirects calls (${status}), and redirects are not followed.`;
  return `It answers ${status}.`;
}

const completion = z.looseObject({ choices: z.array(z.looseObject({ message: z.looseObject({}) })).min(1) });
const embedding = z.looseObject({ data: z.array(z.looseObject({ embedding: z.unknown() })).min(1) });

const shapeFault = (json: unknown, isEmbedding: boolean): string | null =>
  (isEmbedding ? embedding : completion).safeParse(json).success
    ? null
    : 'It answers 200, but not in the shape of the OpenAI API.';

/** `usage.prompt_tokens`, `energy`, …: what receipts could be made of. */
function fieldsOf(json: unknown): string[] {
  const known = z.looseObject({ usage: z.looseObject({}).optional() }).safeParse(json).data;
  if (known === undefined) return [];
  const more = Object.keys(known).filter((name) => /energy|impact|carbon|timings/i.test(name));
  return [...Object.keys(known.usage ?? {}).map((name) => `usage.${name}`), ...more].filter(isName).slice(0, 50);
}
const isName = (name: string): boolean => /^[\w.]{1,60}$/.test(name);

const listSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() }).or(z.unknown())) });

/** Returns the names of its models in order, or a sentence that says why they cannot be had. */
export async function listedModels(
  provider: ProviderEntry,
  credentials: CredentialView,
  calls: ProviderCalls,
): Promise<Result<readonly string[], string>> {
  const query = provider.path?.split('?')[1];
  const url = `${provider.base_url}/models${query === undefined ? '' : `?${query}`}`;
  const headers = headersFor(provider, credentials);
  if (!headers.ok) return headers;
  const reply = await calls.send(provider, { method: 'GET', url, headers: headers.value });
  if (!reply.ok) return reply;
  const failure = reasonOf(reply.value.status, provider);
  if (failure !== null) return err(failure);
  const list = listSchema.safeParse(jsonIn(reply.value.body)).data;
  if (list === undefined) return err(`What ${url} answers is no list of models.`);
  const ids = list.data.flatMap((each) => z.object({ id: z.string().min(1).max(200) }).safeParse(each).data?.id ?? []);
  return ok([...new Set(ids)].sort());
}

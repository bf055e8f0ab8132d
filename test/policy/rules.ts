/** The rules of the shared gateway, as operators change them, and what calls come to under them. */

import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import { screenCodes } from '@gw/contract/internal/policy-rules';
import type { Database } from '@gw/prisma/client';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { eventually, quick, stack } from '../sdk/gateway.ts';

const base = '/operator/v1/policy';
const versionSchema = z.object({ version: z.number(), rules: z.array(z.looseObject({ id: z.string() })) });

/** Requests of operators to the rules; paths are relative to them. */
export const operator: OperatorApi['send'] = (method, path, body) => apiOf(stack).send(method, `${base}${path}`, body);

export const rulesInForce = async () => versionSchema.parse(await apiOf(stack).get(base));

/** Beside those that are in force. */
export async function addRules(...rules: readonly PolicyRule[]): Promise<number> {
  const before = await rulesInForce();
  const body = { based_on: before.version, note: 'a test', rules: [...before.rules, ...rules] };
  return versionSchema.parse(await operator('POST', '/versions', body)).version;
}

export async function rollBackTo(version: number): Promise<void> {
  const { version: based_on } = await rulesInForce();
  await operator('POST', '/versions', { based_on, version, note: 'after a test' });
}

export const blockingPhrase = (id: string, phrase: string): Extract<PolicyRule, { kind: 'phrases' }> => ({
  id,
  title: 'Of a test',
  screen: 'acceptable_use',
  action: 'block',
  enabled: true,
  kind: 'phrases',
  phrases: [phrase],
});

/** The second part of a key is its public id. */
export async function accountOf(db: Database, key = ''): Promise<string> {
  const publicId = key.split('_')[1] ?? '';
  return (await db.apiKey.findUniqueOrThrow({ where: { publicId } })).accountId;
}

export interface Screened {
  /** 200, or the code of the error. */
  readonly outcome: string;
  readonly requestId: string;
  readonly text: string;
}

/** A request as it is, by any endpoint. */
export async function send(key: string, endpoint: string, body: object): Promise<Screened> {
  const response = await fetch(`${stack.publicUrl}/v1/${endpoint}`, {
    method: 'POST',
    headers: { ...quick, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const requestId = response.headers.get('x-request-id') ?? '';
  if (response.ok) return { outcome: '200', requestId, text };
  const { code, type } = z
    .object({ error: z.object({ code: z.string(), type: z.string() }) })
    .parse(JSON.parse(text)).error;
  if (Object.values<string>(screenCodes).includes(code) && (response.status !== 403 || type !== 'policy_error'))
    throw new Error(`${response.status} ${text}`);
  return { outcome: code, requestId, text };
}

export const chat = (content: string) => ({ model: stack.model, max_tokens: 4, messages: [{ role: 'user', content }] });

export const becomes = (outcome: string, ask: () => Promise<Screened>): Promise<Screened> =>
  eventually(`a call to come to ${outcome}`, async () => {
    const screened = await ask();
    return screened.outcome === outcome ? screened : null;
  });

/** The operator API as the command line calls it. The token comes from a file or the environment, never from arguments. */
import { z } from 'zod';
import { Problem, reasonOf } from '../../problem.ts';
import type { RunFile } from '../../run-file.ts';

export interface OperatorApi {
  get(path: string, query?: Query): Promise<unknown>;
  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown>;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

interface Target {
  readonly url: string;
  readonly token: string;
}

/** The gateway of this checkout, unless the environment names another one. */
export function findTarget(environment: NodeJS.ProcessEnv, run: RunFile | null): Target {
  const url = environment.GW_CONTROL_URL || run?.controlUrl;
  if (!url) throw new Problem('Nothing is running here. ./gw up starts it; GW_CONTROL_URL names another operator API.');
  // The token of this checkout is not for the eyes of another gateway.
  const own =
    environment.GW_CONTROL_URL && environment.GW_CONTROL_URL !== run?.controlUrl ? undefined : run?.operatorToken;
  const token = environment.GW_OPERATOR_TOKEN || own;
  if (!token)
    throw new Problem(`GW_OPERATOR_TOKEN is not set; an admin of ${url} makes one: ./gw admin operators create-token.`);
  return { url: url.replace(/\/$/, ''), token };
}

export function openOperatorApi({ token, url }: Target): OperatorApi {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const reply = await fetch(`${url}${path}`, {
      method,
      redirect: 'error',
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      signal: AbortSignal.timeout(30_000),
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).catch((cause: unknown) => {
      // `fetch` hides why behind its own words.
      const reason = reasonOf(cause instanceof Error ? (cause.cause ?? cause) : cause);
      throw new Problem(`The operator API at ${url} does not answer (${reason}). ./gw status shows what runs.`);
    });
    const text = await reply.text();
    if (!reply.ok) throw new Problem(problemOf(reply.status, text, url));
    return text === '' ? null : JSON.parse(text);
  };
  return {
    get: (path, query = {}) => call('GET', `${path}${queryText(query)}`),
    send: call,
  };
}

function queryText(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function problemOf(status: number, text: string, url: string): string {
  let error: unknown;
  try {
    error = JSON.parse(text);
  } catch {
    return `${url} answered ${status}, and not as the operator API does.`;
  }
  const parsed = errorSchema.safeParse(error);
  if (!parsed.success) return `${url} answered ${status}, and not as the operator API does.`;
  const { code, message } = parsed.data.error;
  return status === 401
    ? `${url} does not accept the operator token: it is wrong, revoked or expired.`
    : `${message} (${code})`;
}

/** The operator API as the command line calls it. Secrets come from a file or the environment, never from arguments. */
import { errorText } from '@gw/contract/internal/error-text';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { Problem } from '@gw/stack/problem';
import type { RunFile } from '@gw/stack/run-file';
import { z } from 'zod';

export interface OperatorApi {
  get(path: string, query?: Query): Promise<unknown>;
  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown>;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

type Target = { readonly url: string } & ({ readonly token: string } | Login);

/** Whoever has no token yet logs in for the one command. */
interface Login {
  readonly email: string;
  readonly credential: string;
  /** The code of the second factor, where the operator has one. */
  readonly code?: string;
}

/** The gateway of this checkout, unless the environment names another one. */
export function findTarget(environment: NodeJS.ProcessEnv, run: RunFile | null): Target {
  const url = (environment.GW_CONTROL_URL || run?.controlUrl)?.replace(/\/$/, '');
  if (!url)
    throw new Problem(
      'The gateway is not running here. To start it, run ./gw up; to use another operator API, set GW_CONTROL_URL.',
    );
  if (!isConfidentialUrl(url))
    throw new Problem('GW_CONTROL_URL has to be https, or http on loopback: anybody on the way could read the token.');
  const { GW_OPERATOR_CODE: code, GW_OPERATOR_CREDENTIAL: credential } = environment;
  const { GW_OPERATOR_EMAIL: email, GW_OPERATOR_TOKEN: given } = environment;
  if (given) return { url, token: given };
  if (email && credential) return { url, email, credential, ...(code ? { code } : {}) };
  // The token of this checkout is not for the eyes of another gateway.
  const isOther = environment.GW_CONTROL_URL && environment.GW_CONTROL_URL !== run?.controlUrl;
  if (isOther || !run?.operatorToken)
    throw new Problem(
      `GW_OPERATOR_TOKEN is not set. An operator of ${url} makes one: ./gw admin operators create-token, with GW_OPERATOR_EMAIL and GW_OPERATOR_CREDENTIAL set for the first one.`,
    );
  return { url, token: run.operatorToken };
}

export function openOperatorApi({ url, ...shown }: Target): OperatorApi {
  const ask = (method: string, path: string, headers: Record<string, string>, body?: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      redirect: 'error',
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      // A catalogue of thousands of entries is applied within a minute.
      signal: AbortSignal.timeout(90_000),
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).catch((cause: unknown) => {
      // `fetch` hides why behind its own words.
      const reason = errorText(cause instanceof Error ? (cause.cause ?? cause) : cause);
      throw new Problem(`The operator API at ${url} does not answer (${reason}). ./gw status shows what runs.`);
    });
  const logIn = async (login: Login): Promise<Record<string, string>> => {
    const reply = await ask('POST', '/session', {}, login);
    if (!reply.ok) throw refusalOf(reply.status, await reply.text(), url, 'e-mail and credential');
    return { cookie: reply.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '', 'x-gw-csrf': '1' };
  };
  let known: Promise<Record<string, string>> | null = null;
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    known ??= 'token' in shown ? Promise.resolve({ authorization: `Bearer ${shown.token}` }) : logIn(shown);
    const reply = await ask(method, path, await known, body);
    const text = await reply.text();
    if (!reply.ok) throw refusalOf(reply.status, text, url, 'operator token');
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

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), param: z.string().nullable().catch(null) }),
});

/** A refusal by the operator API, with the API's name for the field at fault. */
export class ApiRefusal extends Problem {
  readonly param: string | null;
  /** False: it was not the operator API that answered. */
  readonly isRefusal: boolean;
  constructor(message: string, param: string | null = null, isRefusal = true) {
    super(message);
    this.param = param;
    this.isRefusal = isRefusal;
  }
}

function refusalOf(status: number, text: string, url: string, shown: string): ApiRefusal {
  const strange = new ApiRefusal(`${url} answered ${status}, and not as the operator API does.`, null, false);
  let error: unknown;
  try {
    error = JSON.parse(text);
  } catch {
    return strange;
  }
  const parsed = errorSchema.safeParse(error);
  if (!parsed.success) return strange;
  const { code, message, param } = parsed.data.error;
  if (code === 'second_factor_needed')
    return new ApiRefusal(
      'This operator has a second factor. Set GW_OPERATOR_CODE to the code that the authenticator shows.',
    );
  if (code === 'invalid_second_factor') return new ApiRefusal(`${message} (GW_OPERATOR_CODE)`);
  if (status === 401) return new ApiRefusal(`${url} does not accept the ${shown}: wrong, revoked or expired.`);
  return new ApiRefusal(`${message} (${code})`, param);
}

/** People on the operators' port: one who types commands, and one with a browser. */

import { inCheckout } from '@gw/stack/checkout';
import { type CommandResult, run } from '../cli/gateway-of-its-own.ts';
import { type OperatorPlace, operatorVariables } from '../operator-api.ts';

/** `gw admin` as a script runs it: address and token come from the environment. */
export function shellOf(place: OperatorPlace) {
  const env = { ...process.env, ...operatorVariables(place) };
  const admin = (...args: string[]): Promise<CommandResult> =>
    run(process.execPath, [inCheckout('dist', 'cli.js'), 'admin', ...args], env);
  return {
    /** Whatever comes of it. */
    admin,
    /** The command's output for scripts. Throws if it fails. */
    async json(...args: string[]) {
      const { code, out, err } = await admin(...args, '--json');
      if (code !== 0) throw new Error(`gw admin ${args.join(' ')}: ${err}`);
      return JSON.parse(out);
    },
  };
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser with the session of one person; the cookie is kept as a browser keeps it. */
export class Browser {
  readonly #url: string;
  #cookie = '';

  constructor({ controlUrl }: Pick<OperatorPlace, 'controlUrl'>) {
    this.#url = controlUrl;
  }

  /** The value of the session's cookie. */
  get session(): string {
    return this.#cookie.slice(this.#cookie.indexOf('=') + 1);
  }

  async call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<HttpReply> {
    const reply = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        'x-gw-csrf': '1',
        cookie: this.#cookie,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const [set] = reply.headers.getSetCookie();
    if (set !== undefined) this.#cookie = set.split(';', 1)[0] ?? '';
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  }

  logIn(email: string, credential: string, as: 'operator' | 'organisation_admin'): Promise<HttpReply> {
    return this.call('POST', '/session', { email, credential, as });
  }
}

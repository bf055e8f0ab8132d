/** The cookie that carries a session: out of the reach of scripts, and never sent along from another site. */
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface SessionCookie {
  /** Returns the token, or null if there is no cookie. */
  read(request: FastifyRequest): string | null;
  set(reply: FastifyReply, token: string): void;
  clear(reply: FastifyReply): void;
}

/** With `secure` the browser sends it only over TLS, and by its name no other host or path can set it. */
export function sessionCookie(secure: boolean): SessionCookie {
  const name = secure ? '__Host-gw_session' : 'gw_session';
  const options = { path: '/', httpOnly: true, sameSite: 'strict', secure } as const;
  return {
    read: ({ server, headers }) => server.parseCookie(headers.cookie ?? '')[name] ?? null,
    // Without an age it also ends with the browser; the server's clock decides in any case.
    set: (reply, token) => void reply.setCookie(name, token, options),
    clear: (reply) => void reply.clearCookie(name, options),
  };
}

/** What the routes for logging in share; one per process. */
import type { Context } from '../context.ts';
import { type AccessSettings, defaultAccessSettings } from './config.ts';
import { type SessionCookie, sessionCookie } from './session-cookie.ts';

export interface AccessServices {
  readonly settings: AccessSettings;
  readonly cookie: SessionCookie;
}

export function openAccess(_context: Context, settings: AccessSettings = defaultAccessSettings): AccessServices {
  return {
    settings,
    // Plain HTTP is for loopback alone, where a browser may not keep a cookie that demands TLS.
    cookie: sessionCookie(settings.controlUrl.startsWith('https:')),
  };
}

/** The log of a service: JSON lines on standard output. Secrets never reach it: callers log ids and codes, not headers or bodies. */
import { type Logger, pino } from 'pino';

export type { Logger };

export function openLog(part: string, level: string): Logger {
  return pino({
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    // A second line of defence, for objects of libraries that carry more than they should.
    redact: {
      paths: ['authorization', '*.authorization', 'password', '*.password', '*.options.password', 'secret', '*.secret'],
      censor: '[redacted]',
    },
  });
}

/**
 * The log of a service: JSON lines on standard output. Errors are logged as `err`, with their stack.
 *
 * Invariant: the log contains no secrets. Callers log ids and codes, not headers or bodies. Only type, message, stack and code of an
 * error are written, since libraries attach commands, rows and replies to theirs. Passwords in URLs are removed.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** In characters; the validation error of a whole catalogue would be longer than anyone reads. */
const longestMessage = 1000;
const longestStack = 6000;

/** `redis://user:password@host` → `redis://[redacted]@host`. */
const withoutUserInfo = (text: string): string => text.replace(/:\/\/[^\s/]+@/g, '://[redacted]@');

/** Pino's serializer, whose message and stack include the causes, without the other properties of the error. */
function serializedError(error: unknown): unknown {
  if (!(error instanceof Error)) return withoutUserInfo(String(error)).slice(0, longestMessage);
  // Pino marks errors as seen, which fails for a frozen one.
  if (!Object.isExtensible(error)) return withoutUserInfo(errorText(error)).slice(0, longestMessage);
  const { type, message, stack, code } = pino.stdSerializers.err(error);
  return {
    type,
    message: withoutUserInfo(String(message)).slice(0, longestMessage),
    stack: withoutUserInfo(String(stack)).slice(0, longestStack),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
  };
}

/** Opens the log of the service `part` at pino's `level`. It writes to standard output unless `destination` is given. */
export function openLog(part: string, level: string, destination: DestinationStream = pino.destination(1)): Logger {
  return pino(
    {
      level,
      base: { part },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializedError },
      // A second line of defence, for objects of libraries that contain secrets.
      redact: {
        paths: [
          'authorization',
          '*.authorization',
          'password',
          '*.password',
          '*.options.password',
          'secret',
          '*.secret',
        ],
        censor: '[redacted]',
      },
    },
    destination,
  );
}

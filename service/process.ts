/** Runs a service process: one start, one orderly end. */
import { errorText } from '@gw/contract/internal/error-text';
import type { Logger } from './log.ts';

/** How long an orderly end can take, ms; then the process exits with 1. */
const endWithinMs = 10_000;

/**
 * Runs `start`, and on SIGTERM or SIGINT the `stop` that it returns. An error at start ends the process with the
 * message alone. An uncaught error later ends it too, since its state cannot be trusted; the supervisor starts it again.
 */
export async function runService(start: () => Promise<{ log: Logger; stop: () => Promise<void> }>): Promise<void> {
  let service: { log: Logger; stop: () => Promise<void> };
  try {
    service = await start();
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`);
    process.exit(1);
  }
  const { log, stop } = service;
  let ending = false;
  const end = (signal: string) => {
    if (ending) return;
    ending = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), endWithinMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the service could not stop in an orderly way');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected error');
    process.exit(1);
  });
}

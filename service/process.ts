/** Runs a service process with an orderly shutdown. */
import { errorText } from '@gw/contract/internal/error-text';
import type { Logger } from './log.ts';

/** The longest shutdown, ms, after the time for running calls. After that the process exits with 1. */
const endWithinMs = 10_000;

interface Service {
  readonly log: Logger;
  /** How long it waits for running calls, seconds. */
  readonly drainS?: number;
  /** `hurry` is aborted when it should not wait any longer. */
  readonly stop: (hurry: AbortSignal) => Promise<void>;
}

/**
 * Runs `start`, and on SIGTERM or SIGINT the `stop` that it returns; a second signal makes it hurry. An error at startup prints only
 * its message. A later uncaught error ends the process too, since its state cannot be trusted; the supervisor restarts it.
 */
export async function runService(start: () => Promise<Service>): Promise<void> {
  let service: Service;
  try {
    service = await start();
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`);
    process.exit(1);
  }
  const { drainS = 0, log, stop } = service;
  const hurry = new AbortController();
  let ending = false;
  const giveUpAfter = (ms: number) => setTimeout(() => process.exit(1), ms).unref();
  const end = (signal: string) => {
    if (ending) {
      if (!hurry.signal.aborted) giveUpAfter(endWithinMs);
      hurry.abort();
      return;
    }
    ending = true;
    log.info({ signal, drain_s: drainS }, 'stopping');
    giveUpAfter(drainS * 1000 + endWithinMs);
    stop(hurry.signal).then(
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

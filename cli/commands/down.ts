/** `./gw down`: stops what `./gw up` has started, and what a killed one has left behind. */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inCheckout } from '../checkout.ts';
import { Problem } from '../problem.ts';
import { endLeftovers, releaseFolder, supervisorPid } from '../run-file.ts';

const limitMs = 45_000;

export async function down(args: readonly string[]): Promise<number> {
  parseArgs({ args: [...args], options: {} });
  const dir = inCheckout('.gw');
  const pid = supervisorPid(dir);
  if (pid !== null) {
    process.kill(pid, 'SIGTERM');
    const deadline = Date.now() + limitMs;
    while (supervisorPid(dir) !== null) {
      if (Date.now() > deadline) throw new Problem(`Process ${pid} does not stop; end it with: kill -9 ${pid}`);
      await delay(50);
    }
  }
  await endLeftovers(dir);
  releaseFolder(dir);
  process.stdout.write(pid === null ? 'Nothing was running.\n' : 'Stopped.\n');
  return 0;
}

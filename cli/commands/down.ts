/** `./gw down`: stops what `./gw up` has started, and what a killed one has left behind. */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stateFolder } from '../checkout.ts';
import { Problem } from '../problem.ts';
import { endLeftovers, releaseFolder, supervisorPid } from '../run-file.ts';

const limitMs = 45_000;

export async function down(args: readonly string[]): Promise<number> {
  parseArgs({ args: [...args], options: {} });
  const pid = supervisorPid(stateFolder);
  if (pid !== null) {
    process.kill(pid, 'SIGTERM');
    const deadline = Date.now() + limitMs;
    while (supervisorPid(stateFolder) !== null) {
      if (Date.now() > deadline) throw new Problem(`Process ${pid} does not stop; end it with: kill -9 ${pid}`);
      await delay(50);
    }
  }
  await endLeftovers(stateFolder);
  releaseFolder(stateFolder);
  process.stdout.write(pid === null ? 'Nothing was running.\n' : 'Stopped.\n');
  return 0;
}

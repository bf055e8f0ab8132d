/** `./gw down`: stops what `./gw up` has started, and what a killed one has left behind. */
import { setTimeout as delay } from 'node:timers/promises';
import { stateFolder } from '@gw/stack/checkout';
import { Problem } from '@gw/stack/problem';
import { endLeftovers, findSupervisor, releaseFolder } from '@gw/stack/run-file';

const limitMs = 45_000;

export async function down(): Promise<number> {
  const supervisor = findSupervisor(stateFolder);
  if (supervisor) {
    const { pid } = supervisor;
    process.kill(pid, 'SIGTERM');
    const deadline = Date.now() + limitMs;
    while (supervisor.isAlive()) {
      if (Date.now() > deadline) throw new Problem(`Process ${pid} does not stop; end it with: kill -9 ${pid}`);
      await delay(50);
    }
  }
  await endLeftovers(stateFolder);
  releaseFolder(stateFolder);
  process.stdout.write(supervisor ? 'Stopped.\n' : 'Nothing was running.\n');
  return 0;
}

/** `./gw status`: what runs. Exit code 1 unless everything does. */
import { stateFolder } from '@gw/stack/checkout';
import { ask } from '@gw/stack/readiness';
import { findSupervisor, isRunning, type RunFile, readRunFile, type Supervisor } from '@gw/stack/run-file';

interface Status {
  readonly running: boolean;
  readonly starting: boolean;
  /** Whether the gateway answers a request. */
  readonly answers: boolean;
  readonly publicUrl: string | null;
  readonly controlUrl: string | null;
  readonly parts: readonly { readonly name: string; readonly pid: number; readonly running: boolean }[];
}

async function look(run: RunFile | null, supervisor: Supervisor | null): Promise<Status> {
  const names = Object.entries(run?.pids ?? {});
  const parts = run ? names.map(([name, pid]) => ({ name, pid, running: isRunning(run, name) })) : [];
  return {
    running: run !== null && supervisor !== null,
    starting: run === null && supervisor !== null,
    answers: run !== null && (await answers(run)),
    publicUrl: run?.publicUrl ?? null,
    controlUrl: run?.controlUrl ?? null,
    parts,
  };
}

async function answers(run: RunFile): Promise<boolean> {
  try {
    return (await ask(`${run.publicUrl}/v1/models`, run.keys.enterprise)).status === 200;
  } catch {
    // No answer at all is an answer to our question.
    return false;
  }
}

export async function status({ json }: { readonly json?: boolean }): Promise<number> {
  const found = await look(readRunFile(stateFolder), findSupervisor(stateFolder));
  process.stdout.write(json ? `${JSON.stringify(found)}\n` : describe(found));
  return found.running && found.answers && found.parts.every((part) => part.running) ? 0 : 1;
}

function describe(found: Status): string {
  if (found.starting) return 'It is starting; ./gw logs supervisor shows how far it is.\n';
  if (!found.running) return 'Nothing is running. ./gw up starts it.\n';
  const lines = found.parts.map(
    ({ name, pid, running }) => `${name.padEnd(18)} ${running ? `runs as process ${pid}` : 'is down'}`,
  );
  const gateway = found.answers ? 'answers' : 'does not answer';
  return `${lines.join('\n')}\n\nThe gateway at ${found.publicUrl} ${gateway}.\n`;
}

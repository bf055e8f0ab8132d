/** `./gw status`: what runs, and which deployments need their operator. Exit code 1 unless everything runs. */
import { operatorFaults } from '@gw/contract/internal/operator-faults';
import { stateFolder } from '@gw/stack/checkout';
import { ask } from '@gw/stack/readiness';
import { findSupervisor, isRunning, type RunFile, readRunFile, type Supervisor } from '@gw/stack/run-file';
import { z } from 'zod';

interface Status {
  readonly running: boolean;
  readonly starting: boolean;
  /** Whether the gateway answers a request. */
  readonly answers: boolean;
  readonly publicUrl: string | null;
  readonly controlUrl: string | null;
  readonly parts: readonly { readonly name: string; readonly pid: number; readonly running: boolean }[];
  /** Null if the control plane does not say. */
  readonly needOperator: readonly Needy[] | null;
}

const needySchema = z.object({ deployment: z.string(), model: z.string(), status: z.string(), failed_at: z.string() });
type Needy = z.infer<typeof needySchema>;
const healthSchema = z.object({ data: z.array(needySchema) });

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
    needOperator: run && (await needOperator(run)),
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

async function needOperator({ controlUrl, operatorToken }: RunFile): Promise<readonly Needy[] | null> {
  try {
    const { body } = await ask(`${controlUrl}/operator/v1/deployment-health`, operatorToken);
    const { data } = healthSchema.parse(JSON.parse(body));
    return data.filter(({ status }) => operatorFaults.some((fault) => fault === status));
  } catch {
    return null;
  }
}

export async function status({ json }: { readonly json?: boolean }): Promise<number> {
  const found = await look(readRunFile(stateFolder), findSupervisor(stateFolder));
  process.stdout.write(json ? `${JSON.stringify(found)}\n` : describe(found));
  return found.running && found.answers && found.parts.every((part) => part.running) ? 0 : 1;
}

function describe(found: Status): string {
  if (found.starting) return 'The gateway is starting. To follow it, run ./gw logs supervisor.\n';
  if (!found.running) return 'The gateway is not running. To start it, run ./gw up.\n';
  const lines = found.parts.map(
    ({ name, pid, running }) => `${name.padEnd(18)} ${running ? `up (process ${pid})` : 'down'}`,
  );
  const gateway = found.answers ? 'answers' : 'does not answer';
  const needs = (found.needOperator ?? []).map(
    ({ deployment, failed_at, model, status }) =>
      `Deployment ${deployment} needs its operator: ${model} failed with ${status}, last at ${failed_at}.\n`,
  );
  return `${lines.join('\n')}\n\nThe gateway at ${found.publicUrl} ${gateway}.\n${needs.join('')}`;
}

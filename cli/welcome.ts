/** What `./gw up` prints when it is ready. */
import type { RunFile } from './run-file.ts';

/** A command for a shell that asks for a completion. */
function curlFor(run: Pick<RunFile, 'publicUrl' | 'model' | 'keys'>): string {
  const body = { model: run.model, messages: [{ role: 'user', content: 'Hello' }] };
  return [
    `curl -sS ${run.publicUrl}/v1/chat/completions`,
    `  -H 'Authorization: Bearer ${run.keys.audit}'`,
    `  -H 'Content-Type: application/json'`,
    // A single quote in a model's name would end the shell's string.
    `  -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
  ].join(' \\\n');
}

export function welcome(run: RunFile, detached: boolean): string {
  return [
    '',
    `Base URL      ${run.publicUrl}/v1`,
    `Demo key      ${run.keys.audit}`,
    `Operator API  ${run.controlUrl} (./gw admin; admin@localhost logs in with operatorCredential in .gw/secrets.json)`,
    '',
    ...(run.model === null ? ['The provider lists no model yet.'] : ['Try it:', '', curlFor(run)]),
    '',
    detached
      ? './gw status, ./gw logs, ./gw down'
      : 'Ctrl-C stops everything. In another terminal: ./gw status, ./gw logs',
    '',
  ].join('\n');
}

/** The text that `./gw up` prints when it is ready. */
import { join, relative } from 'node:path';
import { stateFolder } from '@gw/stack/checkout';
import type { PublicTls } from '@gw/stack/public-tls';
import type { RunFile } from '@gw/stack/run-file';

/** For a shell: a single quote would end its string. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command for a shell that asks for a completion. */
function curlFor(run: Pick<RunFile, 'publicUrl' | 'model' | 'keys'>, tls: PublicTls | null): string {
  const body = { model: run.model, messages: [{ role: 'user', content: 'Hello' }] };
  const url = new URL(`${run.publicUrl}/v1/chat/completions`);
  // A client goes by the name in the certificate, wherever the listener is.
  const elsewhere = tls?.name && tls.name !== url.hostname ? `${tls.name}:${url.port}:${url.hostname}` : null;
  if (elsewhere && tls?.name) url.hostname = tls.name;
  return [
    `curl -sS ${url}`,
    ...(tls ? [`  --cacert ${quoted(tls.certFile)}`] : []),
    ...(elsewhere ? [`  --resolve ${elsewhere}`] : []),
    `  -H 'Authorization: Bearer ${run.keys.audit}'`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n');
}

export function welcome(run: RunFile, detached: boolean, tls: PublicTls | null = null): string {
  const secrets = relative('', join(stateFolder, 'secrets.json'));
  return [
    '',
    `Base URL      ${run.publicUrl}/v1`,
    `Demo key      ${run.keys.audit}`,
    `Dashboard     ${run.controlUrl} (log in as operator admin@localhost with operatorCredential in ${secrets}; ./gw admin does the same)`,
    '',
    ...(run.model === null ? ['The provider lists no model yet.'] : ['Try it:', '', curlFor(run, tls)]),
    '',
    detached
      ? './gw status, ./gw logs, ./gw down'
      : 'Ctrl-C stops everything. In another terminal: ./gw status, ./gw logs',
    '',
  ].join('\n');
}

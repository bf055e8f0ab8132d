/** Builds what gateways run, for suites that start theirs; `./gw` has done it already. */
import { execFileSync } from 'node:child_process';
import { inCheckout } from '@gw/stack/checkout';

export default function setup(): void {
  execFileSync(process.execPath, [inCheckout('cli', 'prepare.mjs')], { stdio: 'inherit' });
}

/** The internal certificates of a gateway under chaos. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';
import { type InternalCertificates, internalCertificates } from '../long/internal-certificates.ts';
import { envoys, type Ground, services } from './schedule.ts';

export interface RollingCertificates extends Pick<InternalCertificates, 'filesOf'> {
  /** All parts get new certificates, and then another authority, beside the former one until all have its certificates. */
  roll(pauseMs: number): Promise<void>;
  stop(): void;
}

/** Null where the parts speak over sockets. */
export function startCertificates({ isOnNetwork }: Ground): RollingCertificates | null {
  if (!isOnNetwork) return null;
  const dir = mkdtempSync(join(tmpdir(), 'gw-chaos-certificates-'));
  const { filesOf, install } = internalCertificates(dir);
  const installAll = (by: TestCertificate, trusted: readonly TestCertificate[]): void => {
    for (const name of [...services, ...envoys]) install(name, by, trusted);
  };
  let authorities = 1;
  let current = makeCertificate('authority 1');
  installAll(current, [current]);
  return {
    filesOf,
    async roll(pauseMs) {
      authorities += 1;
      const [old, next] = [current, makeCertificate(`authority ${authorities}`)];
      current = next;
      installAll(old, [old, next]);
      await delay(pauseMs);
      installAll(next, [old, next]);
      await delay(pauseMs);
      installAll(next, [next]);
    },
    stop: () => rmSync(dir, { recursive: true, force: true }),
  };
}

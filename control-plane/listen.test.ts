import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCertificates } from '@gw/service/certificates';
import { openTroubles } from '@gw/service/health/troubles';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from './listen.ts';
import { bareApp } from './shared/bare-app.ts';
import type { Context } from './shared/context.ts';

test('the log says https where it listens with TLS, and http where it does not', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gwlisten-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { certificate, key } = makeCertificate('control-plane');
  const tls = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), caFile: join(dir, 'ca.crt') };
  for (const file of [tls.certFile, tls.caFile]) writeFileSync(file, certificate);
  writeFileSync(tls.keyFile, key);
  const silent = pino({ level: 'silent' });
  const certificates = await openCertificates({ internal: tls, log: silent, troubles: openTroubles(silent, () => 0) });
  onTestFinished(certificates.stop);
  for (const [given, scheme] of [
    [certificates.internal, 'https'],
    [null, 'http'],
  ] as const) {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const app = bareApp({ log } as unknown as Context, { tls: given });
    onTestFinished(() => app.close());
    await listen(app, '127.0.0.1:0');
    expect(lines.join('')).toContain(`Server listening at ${scheme}://127.0.0.1:`);
  }
});

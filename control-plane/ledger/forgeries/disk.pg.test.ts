/** Whoever holds the disk of a sidecar changes no number of the ledger, adds none and hides none unnamed. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSpool, recordOf } from '@gw/receipt-sidecar/internals/ledger/spool';
import { eventually } from '@gw/testing/control-plane/fixtures';
import { type Exam, examine, sidecarCatalogue } from '@gw/testing/control-plane/forgeries/exam';
import { sealedEntry } from '@gw/testing/ledger-entry';
import { afterAll, beforeAll, expect } from 'vitest';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-forged-disk-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** As the sidecar does when Redis is there again. */
async function bring(dir: string, { put }: Exam): Promise<void> {
  const spool = await openSpool(dir, 'host');
  await spool.replay(async (entries) => {
    for (const entry of entries) await put(entry);
  });
}

examine('disk', {
  'change a line of the spool, with a checksum that fits': async (exam) => {
    const dir = join(folder, 'changed');
    const spool = await openSpool(dir, 'host');
    const genuine = sealedEntry(exam.call());
    await spool.append(genuine);
    return async () => {
      const at = genuine.indexOf('"tier":"parametric"');
      const altered = Buffer.concat([
        genuine.subarray(0, at),
        Buffer.from('"tier":"telemetry" '),
        genuine.subarray(at + 19),
      ]);
      writeFileSync(join(dir, 'host.spool'), `${recordOf(altered)}\n`);
      await bring(dir, exam);
    };
  },
  'take the spool away': async (exam) => {
    const dir = join(folder, 'taken');
    const spool = await openSpool(dir, 'host');
    await exam.state(1, 0);
    const entry = exam.witnessed();
    return async () => {
      await exam.state(2, 1);
      await spool.append(sealedEntry(entry));
      rmSync(dir, { recursive: true });
      await bring(dir, exam);
    };
  },
  'change the catalogue that the sidecar keeps there': async ({ app, said }) => {
    const dir = mkdtempSync(join(folder, 'catalogue-'));
    const before = sidecarCatalogue(app, dir, said);
    await eventually(() => before.current() !== null);
    const file = join(dir, 'catalogue.json');
    await eventually(() => existsSync(file));
    before.stop();
    return async () => {
      // It starts while Redis has none.
      await app.stores.redis.flushdb();
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"pue":[\d.]+/g, '"pue":1'));
      const sidecar = sidecarCatalogue(app, dir, said);
      await eventually(() => said.length > 0);
      expect(sidecar.current()).toBeNull();
      sidecar.stop();
    };
  },
});

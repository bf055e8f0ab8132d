import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSpool, recordOf } from '@gw/receipt-sidecar/internals/ledger/spool';
import { afterAll, expect, it } from 'vitest';
import { takeOverSpools } from './spools.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-spools-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('what sidecars left that are not started again is replayed by the first one, and that of others stays theirs', async () => {
  takeOverSpools(dir, 1);
  for (const name of ['spool-2', 'spool-3', join('spool-3', 'policy-events')]) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'host.spool'), `${recordOf(Buffer.from(`from ${name}`))}\n`);
    writeFileSync(join(dir, name, 'host-1-0.replay'), `${recordOf(Buffer.from(`older ${name}`))}\n`);
  }
  takeOverSpools(dir, 2);
  const replayed = async (folder: string) => {
    const taken: string[] = [];
    await (await openSpool(join(dir, folder), 'host')).replay(
      async (entries) => void taken.push(...entries.map(String)),
    );
    return taken.sort();
  };
  expect(await replayed('spool')).toEqual(['from spool-3', 'older spool-3']);
  expect(await replayed('spool/policy-events')).toEqual(['from spool-3/policy-events', 'older spool-3/policy-events']);
  expect(readFileSync(join(dir, 'spool-2', 'host.spool'), 'utf8')).toContain(
    Buffer.from('from spool-2').toString('base64'),
  );
});

/** What docs/receipts.md offers for checking a receipt by oneself works, and finds what is wrong. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { samples } from '@gw/methodology/internals/testdata/lineages';
import { methodologyIds } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { MadeCall } from './calls.ts';
import { type ExampleName, examples } from './examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-recompute-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/receipts.md'), 'utf8');
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';

function files(lineageReply: object, receipt: object): [string, string] {
  const [lineageFile, receiptFile] = [join(folder, 'lineage.json'), join(folder, 'receipt.json')];
  writeFileSync(lineageFile, JSON.stringify(lineageReply));
  writeFileSync(receiptFile, JSON.stringify(receipt));
  return [lineageFile, receiptFile];
}

function python(lineageReply: object, receipt: object): { code: number | null; out: string } {
  const script = join(root, 'docs/examples/recompute.py');
  const { status, stdout, stderr } = spawnSync('python3', [script, ...files(lineageReply, receipt)], {
    encoding: 'utf8',
  });
  return { code: status, out: stdout + stderr };
}

const calculated = (Object.entries(examples) as [ExampleName, MadeCall][]).filter(
  ([, { lineage }]) => lineage !== null,
);

describe('recompute.py', () => {
  it('is shown on receipts of every tier and boundary', () => {
    const kinds = calculated.map(([, { receipt }]) => `${receipt.tier} ${receipt.boundary} ${receipt.energy_split}`);
    for (const kind of [
      'telemetry comprehensive unavailable',
      'telemetry comprehensive measured',
      'telemetry narrow measured',
      'parametric comprehensive modelled',
      'parametric narrow modelled',
      'proxy comprehensive modelled',
      'proxy narrow modelled',
    ])
      expect(kinds).toContain(kind);
    expect(calculated.length).toBeGreaterThanOrEqual(10);
  });

  it.each(calculated)(
    'gives every number of the receipt "%s" from its lineage alone',
    (_, { lineageReply, receipt }) => {
      const { code, out } = python(lineageReply, receipt);
      expect(out).toContain(' 0 faults');
      expect(Number(/^carbon_g (\S+)$/m.exec(out)?.[1])).toBe(receipt.carbon_g);
      expect(code).toBe(0);
    },
  );

  it('gives those of random receipts of every methodology', () => {
    const random = fc.sample(samples, { numRuns: 200, seed: 20 });
    for (const [index, { impact, lineage }] of random.entries()) {
      const [lineageFile, receiptFile] = files({ lineage }, impact);
      renameSync(lineageFile, join(folder, `lineage-${index}.json`));
      renameSync(receiptFile, join(folder, `receipt-${index}.json`));
    }
    // One interpreter for all of them.
    const loop = `import sys; sys.path.insert(0, sys.argv[1]); import recompute
for i in range(int(sys.argv[3])): assert recompute.main(*(f"{sys.argv[2]}/{each}-{i}.json" for each in ("lineage", "receipt"))) == 0, i`;
    const args = ['-B', '-c', loop, join(root, 'docs/examples'), folder, String(random.length)];
    const { status, stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    expect(stdout.match(/ 0 faults/g)).toHaveLength(random.length);
    expect(new Set(random.map(({ impact }) => impact.methodology))).toEqual(new Set(methodologyIds));
  });

  it('finds a number of the receipt that does not follow', () => {
    const { lineageReply, receipt } = examples.parametric;
    const { code, out } = python(lineageReply, { ...receipt, carbon_g: Number(receipt.carbon_g) * 1.000001 });
    expect(code).toBe(1);
    expect(out).toMatch(/carbon_g .* is stated, .* follows/);
  });

  it('finds a number that no step gives', () => {
    const { lineageReply, receipt } = examples.narrow;
    expect(python(lineageReply, { ...receipt, energy_host_wh: 0.01 })).toMatchObject({ code: 1 });
  });

  it('finds an input that was altered in any step that uses it', () => {
    const { lineageReply, receipt } = examples.proxy;
    const altered = JSON.parse(JSON.stringify(lineageReply).replaceAll('"T_out","value":400', '"T_out","value":401'));
    const { code, out } = python(altered, receipt);
    expect(code).toBe(1);
    expect(out).toMatch(/accelerator_energy: .* is stated/);
  });
});

describe('the example with the package', () => {
  const script = join(folder, 'verify.mjs');

  it('says that the receipt follows, and what does not', async () => {
    const options = { bundle: true, platform: 'node', format: 'esm', outfile: script } as const;
    await build({ ...options, stdin: { contents: blockOf('js'), resolveDir: root } });
    const { lineageReply, receipt } = examples.parametric;
    const run = (shown: object) =>
      execFileSync(process.execPath, [script, ...files(lineageReply, shown)], { encoding: 'utf8' });
    expect(run(receipt)).toBe(`${receipt.energy_wh} Wh and ${receipt.carbon_g} g follow\n`);
    expect(run({ ...receipt, water_ml: 1 })).toMatch(/^receipt\.water_ml: 1 is stated, .* follows\n$/);
  });
});

it('the command of the page runs on the files beside it', () => {
  const output = execFileSync('sh', ['-c', blockOf('sh')], { cwd: root, encoding: 'utf8' });
  expect(output).toContain(' 0 faults');
});

it('every example with numbers follows from its lineage by the package too', () => {
  for (const [name, { lineage, receipt }] of calculated)
    expect(lineage && verify(lineage, receipt), name).toMatchObject({ ok: true });
});

/** The programs that docs/receipts.md offers for checking a receipt work, and find what is wrong. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assess, type CallFacts } from '@gw/methodology/assess';
import { evaluate } from '@gw/methodology/internals/language/evaluate';
import { formulaOf } from '@gw/methodology/internals/language/parse';
import { samples } from '@gw/methodology/internals/testdata/lineages';
import { lineageOf } from '@gw/methodology/lineage';
import { methodologyIds, methodologyOfHash } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import { cases } from '@gw/testing/cases';
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

/** Returns the document as `GET /v1/gw/methodology/{hash}` does. */
function documentOf(reply: { readonly lineage?: { readonly methodology_hash?: string } | null | false }): string {
  const hash = (reply.lineage || null)?.methodology_hash ?? '';
  return methodologyOfHash(hash)?.document ?? '';
}

function files(lineageReply: object, receipt: object): [string, string, string] {
  const names = ['lineage.json', 'receipt.json', 'methodology.json'];
  const [lineageFile = '', receiptFile = '', methodologyFile = ''] = names.map((name) => join(folder, name));
  writeFileSync(lineageFile, JSON.stringify(lineageReply));
  writeFileSync(receiptFile, JSON.stringify(receipt));
  writeFileSync(methodologyFile, documentOf(lineageReply));
  return [lineageFile, receiptFile, methodologyFile];
}

/** `receipt`: null to look at the lineage alone. */
function python(
  lineageReply: object,
  receipt: object | null,
  { withDocument } = { withDocument: true },
): { code: number | null; out: string } {
  const script = join(root, 'docs/examples/recompute.py');
  const [lineageFile, ...others] = files(lineageReply, receipt ?? {});
  const args = [script, lineageFile, ...(receipt === null ? [] : withDocument ? others : others.slice(0, 1))];
  const { status, stdout, stderr } = spawnSync('python3', ['-B', ...args], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

interface ForgedLineage {
  readonly inputs: readonly { name: string; value: number | null }[];
  readonly factors: { name: string; value: number }[];
  readonly steps: ForgedStep[];
}

interface ForgedStep {
  readonly id: string;
  readonly formula: string;
  readonly inputs: readonly string[];
  readonly output: { value: number | null };
  readonly uncertainty: object | null;
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
      expect(out).not.toContain('not checked');
      expect(code).toBe(0);
    },
  );

  it('gives those of random receipts of every methodology', () => {
    const random = fc.sample(samples, { numRuns: cases(200, 20), seed: 20 });
    for (const [index, { impact, lineage }] of random.entries()) {
      const [lineageFile, receiptFile, methodologyFile] = files({ lineage }, impact);
      renameSync(lineageFile, join(folder, `lineage-${index}.json`));
      renameSync(receiptFile, join(folder, `receipt-${index}.json`));
      renameSync(methodologyFile, join(folder, `methodology-${index}.json`));
    }
    // One interpreter for all of them.
    const loop = `import sys; sys.path.insert(0, sys.argv[1]); import recompute
for i in range(int(sys.argv[3])): assert recompute.main(*(f"{sys.argv[2]}/{each}-{i}.json" for each in ("lineage", "receipt", "methodology"))) == 0, i`;
    const args = ['-B', '-c', loop, join(root, 'docs/examples'), folder, String(random.length)];
    const { status, stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8', maxBuffer: 2 ** 24 });
    expect(status, stderr + stdout.slice(-3000)).toBe(0);
    expect(stdout.match(/ 0 faults/g)).toHaveLength(random.length);
    expect(new Set(random.map(({ impact }) => impact.methodology))).toEqual(new Set(methodologyIds));
  });

  it('finds a number of the receipt that does not follow', () => {
    const { lineageReply, receipt } = examples.parametric;
    const { code, out } = python(lineageReply, { ...receipt, carbon_g: Number(receipt.carbon_g) * 1.000001 });
    expect(code).toBe(1);
    expect(out).toMatch(/carbon_g of the receipt: .* is stated, .* follows/);
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
    expect(out).toMatch(/T_out, value: 401 is stated, 400 follows/);
  });

  it('finds facts that were altered with all that follows from them, and a receipt of another call', () => {
    const { facts, lineage, lineageReply, receipt } = examples.parametric;
    const other = {
      ...(JSON.parse(facts) as CallFacts),
      usage: { promptTokens: 9, cachedPromptTokens: 0, completionTokens: 9 },
    };
    const traced = lineageOf(other, 'gw-2.0', lineage?.call);
    const forged = traced.ok ? assess(other) : traced;
    if (!traced.ok || !forged.ok) throw new Error('no lineage');
    const { out } = python({ ...lineageReply, lineage: traced.lineage }, { ...receipt, ...forged.impact });
    expect(out).toMatch(/lineage_digest of the receipt: .* is stated/);
    expect(out).toMatch(/ 1 faults/);
    expect(python(lineageReply, { ...receipt, model: 'gpt-5' }).out).toMatch(/model of the receipt: gpt-5 is stated/);
  });

  it('finds factors that were altered with all that follows from them, by the methodology document', () => {
    const { lineageReply, receipt } = examples.parametric;
    const forged = JSON.parse(JSON.stringify(lineageReply)) as { lineage: ForgedLineage };
    const { factors, inputs } = forged.lineage;
    for (const each of factors)
      if (/^(e_weights|e_operations|e_context|e_token|gpu_power|server_power)$/.test(each.name)) each.value /= 10;
    const outputs = new Map<string, number | null>([...inputs, ...factors].map(({ name, value }) => [name, value]));
    for (const step of forged.lineage.steps) {
      const { names } = formulaOf(step.formula);
      const values = new Map(names.map((name, at) => [name, outputs.get(step.inputs[at] ?? '')]));
      step.output.value = evaluate(step.formula, (name) => values.get(name) ?? null);
      outputs.set(step.id, step.output.value);
    }
    const bounds = (id: string) => ({ low: outputs.get(`${id}@low`), high: outputs.get(`${id}@high`) });
    for (const step of forged.lineage.steps) if (step.uncertainty) Object.assign(step.uncertainty, bounds(step.id));
    const amounts = Object.keys(receipt).flatMap((field) => (outputs.has(field) ? [[field, outputs.get(field)]] : []));
    const cheaper = { ...receipt, ...Object.fromEntries(amounts) };
    expect(cheaper.energy_wh).toBeLessThan(Number(receipt.energy_wh) / 5);
    const { code, out } = python(forged, cheaper);
    expect(code).toBe(1);
    expect(out).toMatch(/e_weights, value: .* is stated, .* follows/);
    // Without the document nothing tells, and it says so.
    const alone = python(forged, cheaper, { withDocument: false });
    expect(alone).toMatchObject({ code: 0, out: expect.stringMatching(/^factors and formulas were not checked/m) });
  });

  it('believes no document but the one with the hash of the receipt', () => {
    const { lineageReply, receipt } = examples.parametric;
    const [lineageFile, receiptFile, methodologyFile] = files(lineageReply, receipt);
    writeFileSync(
      methodologyFile,
      readFileSync(methodologyFile, 'utf8').replace('"utilisation":0.4', '"utilisation":0.5'),
    );
    const script = join(root, 'docs/examples/recompute.py');
    const { status, stdout } = spawnSync('python3', ['-B', script, lineageFile, receiptFile, methodologyFile], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^methodology_hash: sha256:.* is stated, sha256:.* follows$/m);
    expect(status).toBe(1);
  });

  it('misses no field of a receipt, and none that is not its', () => {
    const { lineageReply, receipt } = examples.parametric;
    const { energy_wh: _, ...without } = receipt;
    expect(python(lineageReply, without).out).toMatch(/^energy_wh of the receipt: nothing is stated/m);
    expect(python(lineageReply, { ...receipt, saved_g: 5 }).out).toMatch(
      /^saved_g of the receipt: 5 is stated, nothing/m,
    );
    expect(python(lineageReply, { ...receipt, prompt_tokens: 1 }).out).toMatch(/^prompt_tokens of the receipt: 1 is/m);
    const { lineage_digest: _d, ...unbound } = receipt;
    expect(python(lineageReply, unbound).out).toMatch(/^lineage_digest of the receipt: nothing is stated/m);
  });

  it('makes the digest of whatever a provider said', () => {
    const { facts } = examples.parametric;
    const raw = {
      'é\u{1F600}': '\u0007"\\\u2028',
      ﬁ: [1e21, 1e-7, 123456789012345680000, 0.1, -0, 5e-324, true, null],
    };
    const telemetry = { source: 'greenpt', refused: 'unknown_unit', raw } as const;
    const traced = lineageOf({ ...(JSON.parse(facts) as CallFacts), telemetry });
    expect(traced.ok && python({ lineage: traced.lineage }, null)).toMatchObject({ code: 0 });
  });

  it('lists who vouches for each input', () => {
    const entry = { catalogueVersion: 7, changedAt: '2026-10-01T00:00:00.000Z', changedBy: 'jo' };
    const known = JSON.parse(examples.parametric.facts) as CallFacts;
    const pueEvidence = { kind: 'measured', source: 'meter 4', period: '2025-01-01/2026-01-01' } as const;
    const facts = { ...known, model: { ...known.model, entry }, site: { ...known.site, pueEvidence } };
    const traced = lineageOf(facts, 'gw-2.0', examples.parametric.lineage?.call);
    const { out } = python({ lineage: traced.ok && traced.lineage }, null);
    expect(out).toMatch(
      /^model catalogue: .*P_active.*; vouched by jo, 2026-10-01T00:00:00.000Z, catalogue version 7$/m,
    );
    expect(out).toMatch(
      /^deployment catalogue: PUE .*nobody that is named.*; PUE measured: meter 4, 2025-01-01\/2026-01-01$/m,
    );
    expect(out).toMatch(
      /^usage of the call: T_cached T_in T_in_least T_in_most T_out T_out_least T_out_most answers prompts; vouched by simulator/m,
    );
  });

  it('says in a sentence what is no lineage', () => {
    const refused = { error: { message: 'The key lacks the scope gw:lineage.' } };
    const { receipt } = examples.parametric;
    expect(python(refused, receipt)).toMatchObject({
      code: 1,
      out: expect.stringContaining('lacks the scope gw:lineage'),
    });
    expect(python({ lineage: null, explanation: 'Nothing was calculated.' }, receipt)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/holds no lineage. Nothing was calculated/),
    });
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

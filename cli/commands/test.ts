/**
 * `./gw check`, `./gw test` and `./gw test long`.
 *
 * Invariant: the last line is `N passed, N failed` (`, N skipped`), counting each test and each other check once, and
 * the exit code is 0 only if nothing failed. The tests have a stack and folders of their own, removed afterwards; a signal
 * ends all that was started, and a second one does not wait for that.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { makeTemplateCluster } from '@gw/stack/migrate-and-seed';
import { templateVariable } from '@gw/stack/services/postgres';
import { z } from 'zod';
import { endAtSignals, tracked } from './end-all.ts';
import { add, failuresText, type Tally, tallyLine, tallyOfVitest } from './tally.ts';
import { makeTestFolder } from './test-folder.ts';

interface Check {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
}

const tool = (name: string): string => inCheckout('node_modules', '.bin', name);
/** The compiler skips what has not changed since the last check. */
const remembered = (name: string) => ['--incremental', '--tsBuildInfoFile', inCheckout('.deps', `${name}.tsbuildinfo`)];
const staticChecks: readonly Check[] = [
  // Two threads would check the shared types twice, and the other checks need the second processor.
  { title: 'types', command: tool('tsc'), args: ['-p', '.', '--singleThreaded', ...remembered('types')] },
  {
    title: 'types of the pages',
    command: tool('tsc'),
    args: ['-p', 'dashboard', '--singleThreaded', ...remembered('dashboard-types')],
  },
  { title: 'style', command: tool('biome'), args: ['check', '--error-on-warnings', '.'] },
  { title: 'dead code', command: tool('knip'), args: ['--cache', '--cache-location', inCheckout('.deps', 'knip')] },
];

interface Lot {
  /** A test project of vitest.config.ts. */
  readonly project: string;
  /** So many of its files run side by side, each against a gateway that it shares with those before and after it. */
  readonly gateways: number;
  /** Random cases by the thousand (see `cases` of the tests). */
  readonly manyCases?: boolean;
}

interface Run {
  readonly checks: readonly Check[];
  /** One after the other; those in brackets side by side. */
  readonly lots: readonly (readonly Lot[])[];
  /** Measurements need a disk, and a million receipts do not fit in memory. */
  readonly onDisk: boolean;
  /** How vitest tells its progress: `default` a line per file, `verbose` a line per test as soon as it has ended. */
  readonly reporter: 'default' | 'verbose';
}
const fastLot: Lot = { project: 'fast', gateways: 0 };
const storesLot: Lot = { project: 'stores', gateways: 0 };
const fast: Run = { checks: staticChecks, lots: [[fastLot]], onDisk: false, reporter: 'default' };
const everything: Run = {
  checks: staticChecks,
  // Tests of whole gateways wait more than they compute. Those that start their own have three workers.
  lots: [
    [fastLot],
    [storesLot],
    [
      { project: 'stack', gateways: 3 },
      { project: 'own', gateways: 0 },
    ],
  ],
  onDisk: false,
  reporter: 'default',
};
/** Minutes for a single test. */
const long: Run = {
  checks: [],
  lots: [
    [{ ...fastLot, manyCases: true }],
    [{ ...storesLot, manyCases: true }],
    [{ project: 'slow', gateways: 2 }],
    [{ project: 'long', gateways: 0 }],
  ],
  onDisk: true,
  reporter: 'verbose',
};

export async function check(files: readonly string[]): Promise<number> {
  return runAll(fast, files);
}

export async function test(files: readonly string[]): Promise<number> {
  return runAll(everything, files);
}

export async function testLong(files: readonly string[]): Promise<number> {
  return runAll(long, files);
}

const noTests: Tally = { passed: 0, failed: 0, skipped: 0 };

async function runAll(run: Run, files: readonly string[]): Promise<number> {
  const dir = makeTestFolder(run.onDisk);
  const { signal, ended } = endAtSignals(dir);
  try {
    // Whoever names files asks for these alone. The checks leave the processors idle at their ends, and so do the tests.
    const checks = files.length === 0 ? run.checks : [];
    const checking = Promise.all(checks.map(capture));
    const lots = lotsOf(run.lots, files);
    const times: string[] = [];
    let statics = noTests;
    let tests = noTests;
    for (const [at, group] of lots.entries()) {
      if (signal.aborted) break;
      const title = group.map(({ project }) => project).join(' and ');
      const beside = at === 0 ? checks.map((each) => `, ${each.title}`).join('') : '';
      process.stdout.write(`\n${title}${beside} (${at + 1} of ${lots.length})\n`);
      const started = Date.now();
      const options = { reporter: run.reporter, isAlone: group.length === 1, files, dir, signal };
      for (const tally of await Promise.all(group.map((lot) => runLot(lot, options)))) tests = add(tests, tally);
      if (at === 0) statics = tellChecks(await checking);
      times.push(`${title} ${Math.round((Date.now() - started) / 1000)} s`);
    }
    process.stdout.write(`\n${times.join(', ')}\n`);
    // To find no test at all is no success, nor is to be stopped.
    const isNone = tests.passed + tests.failed === 0;
    if (isNone && files.length > 0)
      process.stdout.write(`\nNo test was found for ${files.join(' ')}. Name files, or parts of their paths.\n`);
    if (signal.aborted || isNone) tests = { ...tests, failed: tests.failed + 1 };
    const all = add(statics, tests);
    process.stdout.write(`${failuresText(all)}\n${tallyLine(all)}\n`);
    return all.failed === 0 ? 0 : 1;
  } finally {
    await ended();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Keeps the lots that have tests in the files, so that nothing starts in vain; all lots if no file is named. */
function lotsOf(lots: Run['lots'], files: readonly string[]): Run['lots'] {
  if (files.length === 0) return lots;
  const projects = lots.flat().flatMap(({ project }) => ['--project', project]);
  const args = ['list', '--filesOnly', '--json', ...projects, ...files];
  const { status, stdout } = spawnSync(tool('vitest'), args, { cwd: inCheckout(), encoding: 'utf8' });
  if (status !== 0) return lots;
  const listed = z.array(z.object({ projectName: z.string() })).parse(JSON.parse(stdout));
  const hasSome = ({ project }: Lot) => listed.some(({ projectName }) => projectName === project);
  return lots.flatMap((group) => (group.some(hasSome) ? [group.filter(hasSome)] : []));
}

interface CheckOutcome {
  readonly title: string;
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
}

/** Shows a check's output only if it failed. */
function tellChecks(outcomes: readonly CheckOutcome[]): Tally {
  for (const { title, ok, output, seconds } of outcomes)
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${title} (${seconds} s)\n${ok ? '' : `${output}\n`}`);
  const passed = outcomes.filter(({ ok }) => ok).length;
  return { passed, failed: outcomes.length - passed, skipped: 0 };
}

function capture({ title, command, args }: Check): Promise<CheckOutcome> {
  const started = Date.now();
  return new Promise((resolve) => {
    const child = tracked(spawn(command, args, { cwd: inCheckout(), stdio: ['ignore', 'pipe', 'pipe'] }));
    let output = '';
    const collect = (data: Buffer) => {
      output += data.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const end = (ok: boolean) =>
      resolve({ title, ok, output: output.trim(), seconds: Math.round((Date.now() - started) / 1000) });
    child.once('error', (cause) => {
      output += cause.message;
      end(false);
    });
    child.once('close', (code) => end(code === 0));
  });
}

interface LotOptions {
  readonly reporter: Run['reporter'];
  /** Else another lot writes to the same terminal, and both write plain lines. */
  readonly isAlone: boolean;
  readonly files: readonly string[];
  readonly dir: string;
  readonly signal: AbortSignal;
}

async function runLot(lot: Lot, { dir, files, isAlone, reporter, signal }: LotOptions): Promise<Tally> {
  const lotDir = join(dir, lot.project);
  mkdirSync(lotDir, { mode: 0o700 });
  const args = ['--project', lot.project, `--reporter=${reporter}`, ...files];
  // Files that are named are few.
  const gateways = Math.min(lot.gateways, files.length || lot.gateways);
  const env = {
    GW_TEST_DIR: lotDir,
    ...(lot.manyCases && { GW_TEST_CASES: 'many' }),
    ...(gateways > 0 && { GW_TEST_GATEWAYS: String(gateways) }),
    ...(lot.project !== 'fast' && { [templateVariable]: await templateClusterIn(dir) }),
  };
  if (signal.aborted) return noTests;
  const tally = await runVitest(args, env, join(lotDir, 'report.json'), isAlone);
  if (tally.failed > 0) keepLogs(lotDir, lot.project);
  return tally;
}

/** Made once, when it is first needed. */
let template: Promise<string> | null = null;
function templateClusterIn(dir: string): Promise<string> {
  template ??= makeTemplateCluster(join(dir, 'template'));
  return template;
}

async function runVitest(
  more: readonly string[],
  env: Record<string, string>,
  report: string,
  isAlone: boolean,
): Promise<Tally> {
  const args = ['run', '--passWithNoTests', '--reporter=json', `--outputFile.json=${report}`, ...more];
  const child = tracked(
    spawn(tool('vitest'), args, {
      cwd: inCheckout(),
      stdio: ['ignore', isAlone ? 'inherit' : 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    }),
  );
  child.stdout?.pipe(process.stdout, { end: false });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const found = existsSync(report) ? readFileSync(report, 'utf8') : null;
  return tallyOfVitest(found, code === 0, inCheckout());
}

/** Keeps the logs of all parts for whoever investigates the failure. */
function keepLogs(dir: string, project: string): void {
  const kept = inCheckout('.gw', 'logs', 'last-failed-test', project);
  rmSync(kept, { recursive: true, force: true });
  // One that never started has none.
  for (const stack of readdirSync(dir).filter((name) => existsSync(join(dir, name, 'logs')))) {
    cpSync(join(dir, stack, 'logs'), join(kept, stack), { recursive: true });
    process.stdout.write(`The logs of the gateway are in ${join(kept, stack)}.\n`);
  }
}

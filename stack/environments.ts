/**
 * Packages at pinned versions, outside of the repository's own: virtual environments of Python, folders of Node packages and
 * programs of Go, each made once and kept in `.deps/`.
 *
 * Invariants: the stamp is written last, so an installation that was cut off is begun again. Of several processes that
 * want the same folder one makes it, and the others wait.
 */
import { spawn } from 'node:child_process';
import { once as onceEmitted } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { defined } from '@gw/contract/internal/defined';
import { inCheckout } from './machine/checkout.ts';

type Log = (line: string) => void;

/** Path of the interpreter. `requirements`: a file that pins the packages. Throws one line that says what to do. */
export async function pythonWith(name: string, requirements: string, log: Log): Promise<string> {
  const python = inCheckout('.deps', `python-${name}`, 'bin', 'python');
  const { output: version } = await run('python3', ['--version']);
  const dir = dirname(dirname(python));
  await once(dir, `${version}\n${readFileSync(requirements, 'utf8')}`, `Python packages (${name})`, log, async () => {
    // Debian's Python cannot put pip into an environment, but the pip outside can install into it.
    await step(['-m', 'venv', '--without-pip', dir]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2'];
    await step(['-m', 'pip', '--python', python, 'install', ...quiet, '--requirement', requirements]);
  });
  return python;
}

/** Path of the folder above `node_modules`. `pinned`: a folder with package.json and package-lock.json. */
export async function nodeWith(name: string, pinned: string, log: Log): Promise<string> {
  const dir = inCheckout('.deps', `node-${name}`);
  const stamp = `${process.version}\n${readFileSync(join(pinned, 'package-lock.json'), 'utf8')}`;
  await once(dir, stamp, `Node packages (${name})`, log, async () => {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(pinned, file), join(dir, file));
    // Its folder by name: where that is taken away under it, npm installs into the nearest one above, the checkout.
    const { code, output } = await run('npm', ['ci', '--prefix', dir, '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: dir,
    });
    if (code !== 0) throw new Error(`The Node packages (${name}) could not be installed: ${output}`);
  });
  return dir;
}

/**
 * Path of a program of Go, which `go install` builds. `pinned`: its package with `@` and its version. What it is built from is checked by
 * Go's database of checksums, even where the environment switches that off, and removed behind it.
 */
export async function goProgram(pinned: string, log: Log): Promise<string> {
  const [path = '', version] = pinned.split('@');
  const name = basename(path);
  const dir = inCheckout('.deps', `go-${name}-${version}`);
  await once(dir, pinned, `Go program ${name} ${version}`, log, async () => {
    const work = join(dir, 'work');
    const caches = { GOPATH: work, GOMODCACHE: join(work, 'modules'), GOCACHE: join(work, 'cache') };
    const checked = { GOENV: 'off', GOSUMDB: 'sum.golang.org', GONOSUMDB: '', GOPRIVATE: '' };
    const env = { ...process.env, GOBIN: dir, GOFLAGS: '-modcacherw', ...caches, ...checked };
    const { code, output } = await run('go', ['install', pinned], { env });
    rmSync(work, { recursive: true, force: true });
    if (code === null && /ENOENT/.test(output))
      throw new Error('There is no go on the PATH. Install Go and start again.');
    if (code !== 0) throw new Error(`Go could not build ${name}: ${reasonOf(output)}`);
  });
  return join(dir, name);
}

/** The last line in which Go says what is wrong; it goes on with what a server said, in lines of their own. */
function reasonOf(output: string): string {
  const lines = output.split('\n');
  const told = lines.findLast((line) => /^go: /.test(line) && !/^go: (downloading|warning)|switching to/.test(line));
  return told ?? defined(lines.at(-1), 'The last line');
}

/** Makes the folder anew, unless that was done for the same `stamp`. */
async function once(dir: string, stamp: string, title: string, log: Log, make: () => Promise<void>): Promise<void> {
  const stampFile = join(dir, 'stamp');
  const made = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (made()) return;
  const unlock = await lock(`${dir}.lock`, () => log(`Another process installs the ${title}…`));
  try {
    if (made()) return;
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    const started = Date.now();
    log(`Installing the ${title}…`);
    await make();
    writeFileSync(stampFile, stamp);
    log(`Installing the ${title}… ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    unlock();
  }
}

/** Node has no lock on a file; one of Python's ends with its process, and that with its input, however ours may end. */
const locking = `
import fcntl, sys
lock = open(sys.argv[1], "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("waits", flush=True)
    fcntl.flock(lock, fcntl.LOCK_EX)
print("holds", flush=True)
sys.stdin.read()`;

/** Returns what gives the lock back. `onWait` is called if another process has it. */
async function lock(file: string, onWait: () => void): Promise<() => void> {
  mkdirSync(dirname(file), { recursive: true });
  const child = spawn('python3', ['-c', locking, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = createInterface(child.stdout);
  const failed = onceEmitted(child, 'error').then(([cause]) => {
    throw new Error(explain(String(cause)));
  });
  const holds = (async () => {
    for await (const line of said) {
      if (line === 'holds') return;
      onWait();
    }
    throw new Error(`${file} could not be locked.`);
  })();
  await Promise.race([holds, failed]);
  return () => child.stdin.end();
}

async function step(args: readonly string[]): Promise<void> {
  const { code, output } = await run('python3', args);
  if (code !== 0) throw new Error(explain(output));
}

function explain(output: string): string {
  if (/ENOENT/.test(output)) return 'There is no python3 on the PATH. Install Python 3 with pip and start again.';
  if (/No module named pip/.test(output))
    return 'Python has no pip. Install it (Debian and Ubuntu: apt install python3-pip) and start again.';
  if (/Retrying|connection|resolve|timed out|proxy/i.test(output))
    return 'Python packages could not be downloaded: no connection to the Python package index. Check network and proxy (pip config list) and start again.';
  return `Python packages could not be installed: ${output.split('\n').at(-1)}`;
}

interface Ran {
  /** Null: it could not be started, or was killed. */
  readonly code: number | null;
  readonly output: string;
}

function run(
  command: string,
  args: readonly string[],
  where: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...where });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        output += data.toString();
      });
    }
    child.once('error', (cause) => resolve({ code: null, output: cause.message }));
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}

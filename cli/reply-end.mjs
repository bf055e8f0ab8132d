/** Compiles the filter that ends replies (envoy/reply-end/filter.c), where there is a C compiler. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { at, Failure, run } from './run-step.mjs';

export const replyEnd = {
  source: at('envoy', 'reply-end', 'filter.c'),
  module: at('envoy', 'generated', 'reply-end.so'),
};
/** As in deploy/Dockerfile.envoy. */
export const replyEndFlags = ['-std=c11', '-O2', '-Wall', '-shared', '-fPIC', '-pthread'];

/**
 * The C compiler on a PATH; null: there is none, or this system's Envoy is not one that the filter is made for.
 *
 * @param {string | undefined} path
 */
export function compilerOf(path) {
  if (process.platform !== 'linux') return null;
  const files = path?.split(delimiter).map((folder) => join(folder, 'cc'));
  return files?.find((file) => existsSync(file)) ?? null;
}

/**
 * Makes an empty file where the filter cannot be compiled: Envoy does without it then.
 *
 * @param {string | null} compiler
 */
export async function compileReplyEnd(compiler, { module, source } = replyEnd) {
  const next = `${module}.${process.pid}`;
  mkdirSync(dirname(module), { recursive: true });
  try {
    if (compiler === null) throw new Failure('There is no C compiler (cc) on PATH.');
    await run('Compiling the filter that ends replies', compiler, [...replyEndFlags, '-o', next, source]);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    writeFileSync(next, '');
    process.stderr.write(`${cause.message} Streams whose provider stays open behind their end are broken off.\n`);
  }
  // Never written in place: a running Envoy has the former one in its memory.
  renameSync(next, module);
}

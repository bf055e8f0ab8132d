/** A secret that a command is given on standard input, since arguments are seen by every user of the machine. */
import { Problem } from '@gw/stack/problem';

/** Without blanks around it. `usage` is a command that gives it. Throws a Problem if there is none. */
export async function standardInput(what: string, usage: string): Promise<string> {
  if (process.stdin.isTTY) throw new Problem(`${what} is read from standard input: ${usage}`);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const value = Buffer.concat(chunks).toString('utf8').trim();
  if (value === '') throw new Problem(`Standard input is empty: ${usage}`);
  return value;
}

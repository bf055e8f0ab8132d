/** Files that a command names. */
import { readFileSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from '@gw/stack/problem';

/** Throws a Problem that says why it cannot be read. */
export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Problem(`${file} cannot be read (${errorText(error)}).`);
  }
}

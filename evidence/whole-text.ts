import type { PackVerification } from './verify.ts';

/** Says for people how far a pack is proven to lack no receipt of its period. */
export function wholeText({ about, log: { whole } }: Pick<PackVerification, 'about' | 'log'>): string {
  if (!about.isOfAll) return 'it does not claim to be: it is of some receipts of its time alone';
  if (whole === null) return 'not proven: there are no hours of the log that prove it';
  const open = whole.open.map(
    (hour) => `; whether it has all calls of the hour ${hour} that it should, cannot be shown`,
  );
  if (whole.until === null) return `not proven: the log says nothing of its time yet${open.join('')}`;
  return `complete until ${whole.until}, ${whole.hours} hours whole${open.join('')}`;
}

/**
 * Returns the name and the stack of an error without its message, which could hold a piece of a client's text. For what is
 * not an error it returns its type.
 */
export function errorFrames(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.split('\n').filter((line) => /^ {4}at /.test(line)) ?? [];
  return [error.name, ...frames].join('\n');
}

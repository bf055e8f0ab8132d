/**
 * Returns the name and the stack of an error without its message, which could hold a piece of a client's text. For what is
 * not an error it returns its type, and only the name where the message cannot be told from the stack.
 */
export function errorFrames(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { message, name, stack = '' } = error;
  const head = message === '' ? name : `${name}: ${message}`;
  return stack.startsWith(`${head}\n`) ? name + stack.slice(head.length) : name;
}

/** A fault that the person at the keyboard can cure: shown as one line, without a stack. */
export class Problem extends Error {
  override readonly name = 'Problem';
}

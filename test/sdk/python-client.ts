/** The official client of Python, which several tests ask with. */
import { inCheckout } from '@gw/stack/checkout';
import { pythonWith } from '@gw/stack/environments';

/** Path of the interpreter. Throws one line that says what to do. */
export const pythonWithClient = (log: (line: string) => void): Promise<string> =>
  pythonWith('client', inCheckout('test', 'sdk', 'python', 'requirements.txt'), log);

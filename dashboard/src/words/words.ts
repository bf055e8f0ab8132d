/** The texts in the language of this page. There is one so far. */
import { en } from './en.ts';
import { enOperator } from './en-operator.ts';

export const words = { ...en, ...enOperator };
export const locale = 'en-GB';

/** The texts in the language of this page. There is one so far. Those of operators' pages are apart (operator-words.ts): customers load none. */
import { en } from './en.ts';
import { enCustomer } from './en-customer.ts';

export const words = { ...en, ...enCustomer };
export const locale = 'en-GB';

/** The texts in the language of this page. There is one so far. */
import { en } from './en.ts';
import { enCustomer } from './en-customer.ts';
import { enOperator } from './en-operator.ts';

export const words = { ...en, ...enCustomer, ...enOperator };
export const locale = 'en-GB';

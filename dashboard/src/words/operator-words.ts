/** The texts of the operators' pages, in the language of this page, with those of all pages. */
import { enOperator } from './en-operator.ts';
import { words as common } from './words.ts';

export const words = { ...common, ...enOperator };

/** The texts of verifying a pack, in the language of this page, with those of all pages; loaded when somebody verifies one. */
import { enVerify } from './en-verify.ts';
import { words as common } from './words.ts';

export const words = { ...common, ...enVerify };

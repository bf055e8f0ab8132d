import { expect, test } from 'vitest';
import { keyCreateSchema } from './keys.ts';
import { projectSchema } from './project.ts';

test.each(['{gw-name:', 'a{gw-name:operator:op_a:AAAA}'])('no name of a client looks like a hidden one: %s', (text) => {
  expect(projectSchema.safeParse(text).success).toBe(false);
  expect(projectSchema.safeParse('gw-name').success).toBe(true);
  expect(keyCreateSchema.shape.name.safeParse(text).success).toBe(false);
});

/**
 * The items of `input` in `POST /v1/responses`. The newest types have some thirty kinds, and each year has more, so an item of a kind that is
 * not known here passes; what all readers of the known kinds need is checked.
 */
import { z } from 'zod';
import { requiredByType } from './required-by-type.ts';
import { word } from './sampling.ts';

const part = z
  .looseObject({
    type: z.string(),
    text: z.string().nullish(),
    refusal: z.string().nullish(),
    image_url: z.string().nullish(),
    detail: word.nullish(),
    file_id: z.string().nullish(),
    file_data: z.string().nullish(),
    file_url: z.string().nullish(),
    filename: z.string().nullish(),
    input_audio: z.looseObject({ data: z.string(), format: word }).nullish(),
  })
  .check(
    requiredByType({
      input_text: 'text',
      output_text: 'text',
      reasoning_text: 'text',
      summary_text: 'text',
      refusal: 'refusal',
      input_audio: 'input_audio',
    }),
  );

const parts = z.array(part);
const content = z.union([z.string(), parts], 'expected a text, or a list of parts');

/** The fields without which an item of this type says nothing. */
const needed: Readonly<Record<string, readonly string[]>> = {
  message: ['role', 'content'],
  function_call: ['call_id', 'name', 'arguments'],
  function_call_output: ['call_id', 'output'],
  custom_tool_call: ['call_id', 'name', 'input'],
  custom_tool_call_output: ['call_id', 'output'],
  reasoning: ['summary'],
  item_reference: ['id'],
};
const outputs: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);

/** An item without a type is a message; one that has nothing but an id refers to a stored item. */
export const typeOfItem = ({ id, role, type }: Readonly<Record<string, unknown>>): string =>
  typeof type === 'string' ? type : role == null && typeof id === 'string' ? 'item_reference' : 'message';

export const responseInputItem = z
  .looseObject({
    type: word.nullish(),
    id: z.string().nullish(),
    role: z.enum(['user', 'assistant', 'system', 'developer']).nullish(),
    content: content.nullish(),
    call_id: z.string().min(1).max(256).nullish(),
    name: z.string().nullish(),
    arguments: z.string().nullish(),
    input: z.string().nullish(),
    output: z.unknown().optional(),
    summary: parts.nullish(),
    encrypted_content: z.string().nullish(),
  })
  .check(({ issues, value }) => {
    const type = typeOfItem(value);
    for (const field of needed[type] ?? [])
      if (value[field] === undefined || value[field] === null)
        issues.push({ code: 'custom', path: [field], input: value[field], message: `needed for the type ${type}` });
    if (!outputs.has(type) || value.output == null) return;
    const read = content.safeParse(value.output);
    if (!read.success)
      issues.push({
        code: 'custom',
        path: ['output'],
        input: value.output,
        message: 'expected a text, or a list of parts',
      });
  })
  .meta({ id: 'ResponseInputItem' });

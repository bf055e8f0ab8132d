/** Chat messages as OpenAI defines them, and what other servers accept beyond that. */
import { z } from 'zod';
import { requiredByType } from './required-by-type.ts';
import { word } from './sampling.ts';

/** Mistral and others accept a bare URL. */
const imageUrl = z.union(
  [z.string().min(1), z.looseObject({ url: z.string().min(1), detail: word.nullish() })],
  'expected an object with the url of the image',
);

const contentPart = z
  .looseObject({
    type: z.string(),
    text: z.string().nullish(),
    refusal: z.string().nullish(),
    image_url: imageUrl.nullish(),
    input_audio: z.looseObject({ data: z.string(), format: word }).nullish(),
    file: z
      .looseObject({ file_data: z.string().nullish(), file_id: z.string().nullish(), filename: z.string().nullish() })
      .nullish(),
  })
  .check(
    requiredByType({
      text: 'text',
      refusal: 'refusal',
      image_url: 'image_url',
      input_audio: 'input_audio',
      file: 'file',
    }),
  );

export const content = z.union([z.string(), z.array(contentPart).min(1)], 'expected a text, or a list of parts');

const called = z.looseObject({ name: z.string(), arguments: z.string() });
const toolCall = z
  .looseObject({
    id: z.string(),
    type: z.string().nullish(),
    function: called.nullish(),
    custom: z.looseObject({ name: z.string(), input: z.string() }).nullish(),
  })
  .check(requiredByType({ function: 'function', custom: 'custom' }, 'function'));

const name = z.string().nullish();

export const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content, name }),
  z.looseObject({ role: z.literal('developer'), content, name }),
  z.looseObject({ role: z.literal('user'), content, name }),
  z.looseObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    name,
    refusal: z.string().nullish(),
    audio: z.looseObject({ id: z.string() }).nullish(),
    tool_calls: z.array(toolCall).nullish(),
    function_call: called.nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string() }),
  z.looseObject({ role: z.literal('function'), content: content.nullable(), name: z.string() }),
]);

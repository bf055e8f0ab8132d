/** Tools of `POST /v1/responses`, `tool_choice`, and the format of the text. */
import { z } from 'zod';
import { requiredByType } from './required-by-type.ts';
import { functionName, jsonObject, word } from './sampling.ts';

const tool = z
  .looseObject({
    type: word,
    name: functionName.nullish(),
    description: z.string().nullish(),
    parameters: jsonObject.nullish(),
    strict: z.boolean().nullish(),
    format: z.looseObject({ type: word, definition: z.string().nullish(), syntax: word.nullish() }).nullish(),
  })
  .check(requiredByType({ function: 'name', custom: 'name', namespace: 'name' }))
  .meta({ id: 'ResponseTool' });

const toolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required', 'any']),
    z
      .looseObject({
        type: word,
        name: z.string().nullish(),
        mode: word.nullish(),
        tools: z.array(jsonObject).nullish(),
      })
      .check(requiredByType({ function: 'name', custom: 'name', allowed_tools: 'tools' })),
  ],
  'expected none, auto, required, or an object that names a tool',
);

const textFormat = z
  .looseObject({
    type: word,
    name: functionName.nullish(),
    description: z.string().nullish(),
    schema: jsonObject.nullish(),
    strict: z.boolean().nullish(),
  })
  .check(requiredByType({ json_schema: 'schema' }))
  .check(requiredByType({ json_schema: 'name' }));

export const responseToolFields = {
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tool_calls: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .nullish(),
  text: z.looseObject({ format: textFormat.nullish(), verbosity: word.nullish() }).nullish(),
};

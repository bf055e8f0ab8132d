/** Tools of a chat request, `tool_choice`, and the response format. */
import { z } from 'zod';
import { requiredByType } from './required-by-type.ts';
import { functionName, jsonObject, word } from './sampling.ts';

const functionFields = {
  name: functionName,
  description: z.string().nullish(),
  parameters: jsonObject.nullish(),
};

const tool = z
  .looseObject({
    type: z.string(),
    function: z.looseObject({ ...functionFields, strict: z.boolean().nullish() }).nullish(),
    custom: z
      .looseObject({
        name: functionName,
        description: z.string().nullish(),
        format: z
          .looseObject({
            type: z.string(),
            grammar: z.looseObject({ definition: z.string(), syntax: word }).nullish(),
          })
          .check(requiredByType({ grammar: 'grammar' }))
          .nullish(),
      })
      .nullish(),
  })
  .check(requiredByType({ function: 'function', custom: 'custom' }));

const named = z.looseObject({ name: z.string() });

/** Mistral and others call `required` `any`. */
const toolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required', 'any']),
    z
      .looseObject({
        type: z.string(),
        function: named.nullish(),
        custom: named.nullish(),
        allowed_tools: z.looseObject({ mode: word, tools: z.array(jsonObject) }).nullish(),
      })
      .check(requiredByType({ function: 'function', custom: 'custom', allowed_tools: 'allowed_tools' })),
  ],
  'expected none, auto, required, or an object that names a tool',
);

const responseFormat = z
  .looseObject({
    type: z.string(),
    json_schema: z
      .looseObject({
        name: functionName,
        description: z.string().nullish(),
        schema: jsonObject.nullish(),
        strict: z.boolean().nullish(),
      })
      .nullish(),
  })
  .check((payload) => {
    // llama.cpp and Together accept the schema next to the type.
    if (payload.value.schema === undefined) requiredByType({ json_schema: 'json_schema' })(payload);
  });

export const toolFields = {
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  functions: z.array(z.looseObject(functionFields)).nullish(),
  function_call: z
    .union([z.enum(['none', 'auto']), named], 'expected none, auto, or an object that names a function')
    .nullish(),
  response_format: responseFormat.nullish(),
};

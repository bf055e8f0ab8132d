/** Sample values for simple JSON Schemas, for the arguments of tool calls and structured output. */
import { isFields } from './request.ts';

const MAX_DEPTH = 8;

function sampleObject(schema: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const properties = isFields(schema.properties) ? schema.properties : {};
  const names = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  const sample: Record<string, unknown> = {};
  for (const name of names) if (typeof name === 'string') sample[name] = sampleValue(properties[name], depth + 1);
  return sample;
}

/** Deterministic; an unknown or too deep schema gives the string "simulated". */
export function sampleValue(schema: unknown, depth = 0): unknown {
  if (!isFields(schema) || depth > MAX_DEPTH) return 'simulated';
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return sampleObject(schema, depth);
    case 'array':
      return [sampleValue(schema.items, depth + 1)];
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'simulated';
  }
}

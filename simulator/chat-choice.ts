/** The message of a choice in a chat completion: text, requested JSON, or a tool call. */
import { type Answer, limitText, makeAnswers } from './answer.ts';
import type { Directives } from './directives.ts';
import { type Call, isFields } from './request.ts';
import { scriptedCall } from './script.ts';
import type { Seed } from './seed.ts';
import { countTokens } from './text.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Choice {
  readonly text: string;
  readonly toolCall: ToolCall | null;
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
}

export interface ForcedTool {
  readonly name: string;
  readonly parameters: unknown;
}

function scriptedTool({ messages, tools }: Call['fields'], { script }: Directives): ForcedTool | null {
  if (!Array.isArray(messages) || !Array.isArray(tools)) return null;
  const results = messages.filter((message) => isFields(message) && message.role === 'tool').length;
  const names = tools.map((tool) => isFields(tool) && isFields(tool.function) && tool.function.name);
  const step = scriptedCall(script, results, names);
  return step && { name: step.name, parameters: { const: step.input } };
}

/** Returns the function to call: that of the script, else the one named by `tool_choice`, or the first one for `"required"`. */
function forcedTool(call: Call, directives: Directives): ForcedTool | null {
  const scripted = scriptedTool(call.fields, directives);
  if (scripted !== null) return scripted;
  const { tools, tool_choice: wanted } = call.fields;
  const named = isFields(wanted) && isFields(wanted.function) ? wanted.function.name : null;
  if (!Array.isArray(tools) || (wanted !== 'required' && named === null)) return null;
  for (const tool of tools) {
    const declared = isFields(tool) ? tool.function : null;
    if (!isFields(declared)) continue;
    const { name, parameters } = declared;
    if (typeof name === 'string' && (named === null || named === name)) return { name, parameters };
  }
  return null;
}

/** Returns the content for `response_format`, or null for plain text. */
function structuredText(call: Call, words: string): string | null {
  const format = call.fields.response_format;
  if (!isFields(format)) return null;
  if (format.type === 'json_object') return JSON.stringify({ simulated: true, answer: words });
  if (format.type !== 'json_schema') return null;
  const declared = format.json_schema;
  return JSON.stringify(sampleValue(isFields(declared) ? declared.schema : null));
}

const fromAnswer = (answer: Answer): Choice => ({ ...answer, toolCall: null });

export function makeChoices(call: Call, seed: Seed, directives: Directives): Choice[] {
  const tool = forcedTool(call, directives);
  if (tool !== null) {
    const text = JSON.stringify(tool.parameters === undefined ? {} : sampleValue(tool.parameters));
    return Array.from({ length: call.choices }, (_, index) => ({
      text: '',
      toolCall: { id: `call_${seed.id.slice(0, 20)}${index}`, name: tool.name, arguments: text },
      tokens: countTokens(text),
      finishReason: 'tool_calls',
    }));
  }
  const answers = makeAnswers(call, seed.number, directives);
  if (call.fields.response_format === undefined) return answers.map(fromAnswer);
  return answers.map((answer) => {
    const text = structuredText(call, answer.text);
    return fromAnswer(text === null ? answer : limitText(text, call));
  });
}

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

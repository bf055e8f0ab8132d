/** The message of a choice in a chat completion: text, requested JSON, or a tool call. */
import { type Answer, limitText, makeAnswers } from './answer.ts';
import type { Directives } from './directives.ts';
import { type Call, isFields } from './request.ts';
import { sampleValue } from './sample-value.ts';
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

/** Returns the function to call: the one named by `tool_choice`, or the first one for `"required"`. */
function forcedTool(call: Call): { name: string; parameters: unknown } | null {
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
  const tool = forcedTool(call);
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

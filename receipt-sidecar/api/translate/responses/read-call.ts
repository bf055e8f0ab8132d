/** Reads a request of Responses into the model. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Fields } from '../../port/translator.ts';
import type { Call, Choice, ChosenTool, Format, Setting, Text, Tool } from '../model/call.ts';
import { isObject, listOf, memberOf, objectsOf, textOf } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { settingsOf } from '../model/settings.ts';
import { turnsOf } from './read-turns.ts';
import { logprobs, responsesSettings, sealed } from './settings.ts';

const taken = new Set([
  ...['model', 'stream', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text'],
  ...['reasoning', 'include', 'stream_options', 'store'],
]);

export function readResponses({ body, texts }: Fields, losses: Losses): Call {
  const turns = turnsOf(body.input, losses);
  const first = turns.findIndex(({ by }) => by !== 'system');
  const leading = turns.slice(0, first === -1 ? turns.length : first);
  const instructions = textOf(body.instructions);
  const own: readonly Text[] = instructions ? [{ kind: 'text', text: instructions, at: 'instructions' }] : [];
  const text = isObject(body.text) ? body.text : {};
  losses.only(text, new Set(['format', 'verbosity']), 'text');
  const effort = isObject(body.reasoning) ? textOf(body.reasoning.effort) : null;
  const included = includedIn(body.include, losses);
  const hasLogprobs = included.has(logprobs);
  if (!hasLogprobs && body.top_logprobs) losses.leave('top_logprobs');
  return {
    stream: body.stream === true,
    system: [...own, ...leading.flatMap(({ content }) => content.filter((part): part is Text => part.kind === 'text'))],
    turns: turns.slice(leading.length),
    tools: toolsOf(body.tools, texts.get('tools'), losses),
    choice: choiceOf(body.tool_choice, losses),
    parallel:
      typeof body.parallel_tool_calls === 'boolean'
        ? { is: body.parallel_tool_calls, at: 'parallel_tool_calls' }
        : null,
    format: formatOf(text.format, memberOf(texts.get('text'), 'format')),
    effort: effort === null ? null : { is: effort, at: 'reasoning.effort' },
    showsReasoning: summaryOf(body.reasoning) !== null,
    stops: null,
    logprobs: hasLogprobs ? { is: true, at: 'include' } : null,
    settings: [
      ...settingsOf(texts, responsesSettings, hasLogprobs ? taken : new Set([...taken, 'top_logprobs'])),
      ...nested(text, body.reasoning, losses),
    ],
  };
}

/** Fields that stand within others here. */
function nested(text: JsonObject, reasoning: unknown, losses: Losses): readonly Setting[] {
  const settings: Setting[] = [];
  const add = (name: string, value: unknown, at: string) => {
    if (value != null) settings.push({ name, json: JSON.stringify(value), at });
  };
  add('verbosity', text.verbosity, 'text.verbosity');
  if (!isObject(reasoning)) return settings;
  losses.only(reasoning, new Set(['effort', 'summary', 'generate_summary', 'context', 'mode']), 'reasoning');
  if (reasoning.mode !== 'standard') add('mode', reasoning.mode, 'reasoning.mode');
  if (reasoning.context !== 'auto') add('context', reasoning.context, 'reasoning.context');
  // How long it is to be is the provider's choice.
  const summary = summaryOf(reasoning);
  if (summary !== null && summary !== 'auto') losses.leave('reasoning.summary');
  return settings;
}

const summaryOf = (reasoning: unknown): string | null =>
  isObject(reasoning) ? textOf(reasoning.summary ?? reasoning.generate_summary) : null;

function includedIn(include: unknown, losses: Losses): ReadonlySet<unknown> {
  const included = new Set<unknown>(Array.isArray(include) ? include : []);
  for (const each of included)
    if (each === sealed) losses.leave('include');
    // Other names are of what hosted tools return, or of what the client has sent itself.
    else if (each !== logprobs && !/_call(_output)?\.|input_image/.test(String(each)))
      losses.refuse('include', `\`${String(each).slice(0, 64)}\` has no counterpart there`);
  return included;
}

const functionFields = new Set([
  'type',
  'name',
  'description',
  'parameters',
  'strict',
  'defer_loading',
  'output_schema',
]);

function toolsOf(tools: unknown, json: string | undefined, losses: Losses): readonly Tool[] {
  const written = listOf(json);
  return objectsOf(tools).flatMap((tool, index): Tool[] => {
    const at = `tools[${index}]`;
    const { name, description, format, strict, type } = tool;
    const named = { at, name: String(name), description: textOf(description) };
    if (tool.defer_loading === true) losses.refuse(`${at}.defer_loading`, 'tools are loaded at once there');
    if (type === 'function') {
      losses.only(tool, functionFields, at);
      if (tool.output_schema != null) losses.leave(`${at}.output_schema`);
      const schema = memberOf(written[index], 'parameters');
      return [{ ...named, schema, strict: strict === true || null, free: null }];
    }
    if (type === 'custom') {
      const isGrammar = isObject(format) && format.type === 'grammar';
      const grammar = isGrammar ? { definition: String(format.definition), syntax: String(format.syntax) } : null;
      return [{ ...named, schema: null, strict: null, free: { grammar } }];
    }
    losses.refuse(`${at}.type`, `tools of this kind (\`${String(type)}\`) have no counterpart there`);
    return [];
  });
}

const chosen = ({ name, type }: JsonObject): ChosenTool => ({ name: String(name), isFree: type === 'custom' });

function choiceOf(choice: unknown, losses: Losses): Choice | null {
  const at = 'tool_choice';
  if (typeof choice === 'string')
    return { at, mode: choice === 'none' || choice === 'auto' ? choice : 'required', among: null, isOne: false };
  if (!isObject(choice)) return null;
  const { mode, tools, type } = choice;
  if (type === 'function' || type === 'custom') return { at, mode: 'required', among: [chosen(choice)], isOne: true };
  if (type !== 'allowed_tools') losses.refuse(`${at}.type`, 'a choice of this kind has no counterpart there');
  return { at, mode: mode === 'required' ? mode : 'auto', among: objectsOf(tools).map(chosen), isOne: false };
}

function formatOf(format: unknown, json: string | null): Format | null {
  const at = 'text.format';
  if (!isObject(format) || format.type === 'text') return null;
  const { description, name, strict, type } = format;
  if (type === 'json_object') return { at, name: 'json', description: null, schema: null, strict: null };
  return {
    at,
    name: textOf(name) ?? 'answer',
    description: textOf(description),
    schema: memberOf(json, 'schema'),
    strict: strict === true || null,
  };
}

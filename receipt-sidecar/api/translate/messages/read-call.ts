/** Reads a request of Messages into the model. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Fields } from '../../port/translator.ts';
import type { Call, Choice, Format, Placed, Setting, Text, Tool } from '../model/call.ts';
import { isObject, listOf, memberOf, objectsOf, textOf } from '../model/json.ts';
import type { Losses } from '../model/losses.ts';
import { settingsOf } from '../model/settings.ts';
import { hint, systemOf, turnsOf } from './read-turns.ts';
import { budgets, messagesSettings } from './settings.ts';

const taken = new Set([
  ...['model', 'stream', 'messages', 'system', 'tools', 'tool_choice', 'stop_sequences'],
  ...['thinking', 'output_config', 'metadata', 'service_tier', 'context_management'],
]);

export function readMessages({ body, texts }: Fields, losses: Losses): Call {
  const system = systemOf(body.system, losses);
  const stops = (body.stop_sequences ?? []) as readonly string[];
  clearings(body.context_management, losses);
  return {
    stream: body.stream === true,
    system: system.filter((part): part is Text => part.kind === 'text'),
    turns: turnsOf(body.messages as readonly JsonObject[], texts.get('messages'), losses),
    tools: toolsOf(body.tools, texts.get('tools'), losses),
    ...choiceOf(body.tool_choice),
    ...outputOf(body, texts.get('output_config'), losses),
    showsReasoning: showsReasoning(body.thinking),
    stops: stops.length > 0 ? { is: stops, at: 'stop_sequences' } : null,
    logprobs: null,
    settings: [...settingsOf(texts, messagesSettings, taken), ...labels(body, losses)],
  };
}

/** Clearing old thoughts is what a server without Messages does anyway. */
function clearings(management: unknown, losses: Losses): void {
  if (!isObject(management)) return;
  const at = 'context_management';
  const isClearing = ({ type }: JsonObject): boolean => typeof type === 'string' && type.startsWith('clear_thinking_');
  if (objectsOf(management.edits).every(isClearing)) losses.leave(at);
  else losses.refuse(at, 'nothing edits the context there');
}

function labels({ metadata, service_tier: tier }: JsonObject, losses: Losses): readonly Setting[] {
  const settings: Setting[] = [];
  if (isObject(metadata)) {
    losses.only(metadata, new Set(['user_id']), 'metadata');
    const user = textOf(metadata.user_id);
    if (user !== null) settings.push({ name: 'user', json: JSON.stringify(user), at: 'metadata.user_id' });
  }
  if (tier != null) {
    const json = JSON.stringify(tier === 'standard_only' ? 'default' : tier);
    settings.push({ name: 'service_tier', json, at: 'service_tier' });
  }
  return settings;
}

const toolFields = new Set([
  ...['type', 'name', 'description', 'input_schema', 'strict'],
  ...['cache_control', 'eager_input_streaming', 'defer_loading', 'allowed_callers'],
]);

function toolsOf(tools: unknown, json: string | undefined, losses: Losses): readonly Tool[] {
  const written = listOf(json);
  return objectsOf(tools).map((tool, index): Tool => {
    const at = `tools[${index}]`;
    if (tool.type != null && tool.type !== 'custom')
      losses.refuse(`${at}.type`, `tools of this kind (\`${String(tool.type)}\`) have no counterpart there`);
    losses.only(tool, toolFields, at);
    hint(tool, at, losses);
    if (tool.eager_input_streaming != null) losses.leave(`${at}.eager_input_streaming`);
    if (tool.defer_loading === true) losses.refuse(`${at}.defer_loading`, 'tools are loaded at once there');
    const callers = tool.allowed_callers;
    if (Array.isArray(callers) && !callers.includes('direct'))
      losses.refuse(`${at}.allowed_callers`, 'the model alone calls tools there');
    return {
      at,
      name: String(tool.name),
      description: textOf(tool.description),
      schema: memberOf(written[index], 'input_schema'),
      strict: tool.strict === true || null,
      free: null,
    };
  });
}

function choiceOf(choice: unknown): { readonly choice: Choice | null; readonly parallel: Placed<boolean> | null } {
  if (!isObject(choice)) return { choice: null, parallel: null };
  const at = 'tool_choice';
  const alone = choice.disable_parallel_tool_use;
  const parallel = typeof alone === 'boolean' ? { is: !alone, at: `${at}.disable_parallel_tool_use` } : null;
  if (choice.type === 'tool') {
    const among = [{ name: String(choice.name), isFree: false }];
    return { choice: { at, mode: 'required', among, isOne: true }, parallel };
  }
  const mode = choice.type === 'none' || choice.type === 'auto' ? choice.type : 'required';
  return { choice: { at, mode, among: null, isOne: false }, parallel };
}

interface OutputOf {
  readonly format: Format | null;
  readonly effort: Placed<string> | null;
}

function outputOf({ output_config: config, thinking }: JsonObject, json: string | undefined, losses: Losses): OutputOf {
  const output = isObject(config) ? config : {};
  losses.only(output, new Set(['effort', 'format']), 'output_config');
  const thought = isObject(thinking) ? thinkingOf(thinking, losses) : null;
  const effort = textOf(output.effort);
  return {
    format: formatOf(output.format, memberOf(json, 'format')),
    effort: effort === null ? thought : { is: effort, at: 'output_config.effort' },
  };
}

/** A thought of a set size is shown unless the client says otherwise. */
const showsReasoning = (thinking: unknown): boolean =>
  isObject(thinking) && (thinking.display ?? (thinking.type === 'enabled' ? 'summarized' : null)) === 'summarized';

function thinkingOf(thinking: JsonObject, losses: Losses): Placed<string> | null {
  losses.only(thinking, new Set(['type', 'budget_tokens', 'display']), 'thinking');
  if (thinking.display != null && thinking.display !== 'summarized') losses.leave('thinking.display');
  // A server that has no such switch thinks as its model does.
  if (thinking.type !== 'enabled') {
    if (thinking.type !== 'adaptive') losses.leave('thinking.type');
    return null;
  }
  losses.leave('thinking.budget_tokens');
  const budget = Number(thinking.budget_tokens);
  const [, level] = budgets.find(([most]) => budget < most) ?? budgets[2];
  return { is: level, at: 'thinking' };
}

function formatOf(format: unknown, json: string | null): Format | null {
  if (!isObject(format)) return null;
  const schema = memberOf(json, 'schema');
  return { at: 'output_config.format', name: 'answer', description: null, schema, strict: true };
}

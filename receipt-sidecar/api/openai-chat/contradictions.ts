/**
 * Fields that are each well formed and contradict each other. Only what OpenAI refuses and no server could serve is
 * refused here; the rest is the provider's to say.
 */
import { type ApiError, fieldError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { isGiven, streamContradiction } from '../openai/given.ts';

/** Returns the first contradiction; null if there is none. The schema has to have accepted `body`. */
export function chatContradiction(body: JsonObject): ApiError | null {
  const ofStream = streamContradiction(body);
  if (ofStream) return ofStream;
  if (isGiven(body.max_tokens) && isGiven(body.max_completion_tokens))
    return fieldError('max_tokens', '`max_tokens` is the old name of `max_completion_tokens`. Send one of them.');
  if (Number(body.top_logprobs) > 0 && body.logprobs !== true)
    return fieldError('top_logprobs', '`top_logprobs` is only allowed with `logprobs: true`.');
  return isGiven(body.tool_choice) || isGiven(body.function_call) ? ofChoice(body) : null;
}

interface Tool {
  readonly type?: string;
  readonly function?: { readonly name?: string } | null;
  readonly custom?: { readonly name?: string } | null;
}
interface Choice extends Tool {
  readonly allowed_tools?: { readonly tools: readonly Tool[] } | null;
}

/** Returns the name of a tool of the two kinds that have names; nothing is known here of other kinds. */
function nameOf(tool: Tool): string | undefined {
  if (tool.type === 'function') return tool.function?.name;
  return tool.type === 'custom' ? tool.custom?.name : undefined;
}

function ofChoice({ function_call: call, functions, tool_choice: choice, tools }: JsonObject): ApiError | null {
  const offered = (tools ?? []) as readonly Tool[];
  const isKnown = (wanted: Tool) =>
    offered.some((tool) => tool.type === wanted.type && nameOf(tool) === nameOf(wanted));
  if ((choice === 'required' || choice === 'any') && offered.length === 0)
    return fieldError('tool_choice', `\`tool_choice\` is ${choice}, and there are no \`tools\`.`);
  if (choice !== null && typeof choice === 'object') {
    const { allowed_tools: allowed, ...one } = choice as Choice;
    const named = one.type === 'allowed_tools' ? (allowed?.tools ?? []) : [one as Tool];
    for (const tool of named) {
      const name = nameOf(tool);
      if (name !== undefined && !isKnown(tool)) return unknown('tool_choice', name, 'tools');
    }
  }
  if (call !== null && typeof call === 'object') {
    const names = ((functions ?? []) as readonly { readonly name: string }[]).map(({ name }) => name);
    const { name } = call as { readonly name: string };
    if (!names.includes(name)) return unknown('function_call', name, 'functions');
  }
  return null;
}

const unknown = (field: string, name: string, list: string): ApiError =>
  fieldError(field, `\`${field}\` names \`${name.slice(0, 64)}\`, which is not among the \`${list}\`.`);

/**
 * Refuses what a request for a response cannot have here: fields that refer to something stored, since the gateway stores nothing for others, and fields
 * that contradict each other. Finds the tools that the provider would run by itself.
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { typeOfItem } from '@gw/contract/responses-input';
import { isGiven, streamContradiction } from '../openai/given.ts';
import { hostedTool } from '../openai/hosted-tools.ts';
import { linkInParts } from '../openai/linked-hosts.ts';
import type { HostedTool } from '../port/shape.ts';
import { isObject, itemsOf, listOf } from './items.ts';

const unsupported = (param: string, why: string): ApiError =>
  apiError('unsupported_field', { param, message: `\`${param}\` is not supported: ${why}` });

const keepsNothing = 'the gateway stores no responses.';
const reasoningToo =
  'To keep reasoning across turns, ask for `include: ["reasoning.encrypted_content"]` and send its items back.';
const stored: Readonly<Record<string, string>> = {
  previous_response_id: `${keepsNothing} Send the items of the earlier turns in \`input\`. ${reasoningToo}`,
  conversation: `${keepsNothing} Send the items of the conversation in \`input\`. ${reasoningToo}`,
  prompt: 'a prompt that the provider has stored cannot be screened. Send its text in `instructions` and `input`.',
};

/** Returns the first refusal; null if there is none. The schema has to have accepted `body`. */
export function responseRefusal(body: JsonObject): ApiError | null {
  for (const [field, why] of Object.entries(stored)) if (isGiven(body[field])) return unsupported(field, why);
  if (body.background === true)
    return unsupported('background', `${keepsNothing} Leave it out, and use \`stream: true\` for a long answer.`);
  return streamContradiction(body) ?? refusedItem(body) ?? refusedTool(body.tools, 'tools') ?? refusedChoice(body);
}

function refusedItem(body: JsonObject): ApiError | null {
  for (const [at, item] of itemsOf(body).entries()) {
    const path = `input[${at}]`;
    if (typeOfItem(item) === 'item_reference')
      return unsupported(path, `${keepsNothing} Send the item itself in place of its id. ${reasoningToo}`);
    const refused =
      fileIn(item.content, `${path}.content`) ??
      fileIn(item.output, `${path}.output`) ??
      linkInParts(item.content, `${path}.content`) ??
      linkInParts(Array.isArray(item.output) ? item.output : [item.output], `${path}.output`) ??
      refusedTool(item.tools, `${path}.tools`);
    if (refused) return refused;
  }
  return null;
}

function fileIn(parts: unknown, path: string): ApiError | null {
  const isList = Array.isArray(parts);
  for (const [at, { file_id: id }] of listOf(isList ? parts : [parts]).entries())
    if (isGiven(id))
      return unsupported(
        `${path}${isList ? `[${at}]` : ''}.file_id`,
        'the gateway keeps no files, and those at the provider are not told apart by account. Send the content itself.',
      );
  return null;
}

/** Kinds of tools that the client runs by itself. */
const ownTools: ReadonlySet<unknown> = new Set(['function', 'custom', 'local_shell', 'apply_patch', 'namespace']);

/** The list of a `namespace` has tools as well. */
function refusedTool(tools: unknown, path: string, depth = 0): ApiError | null {
  for (const [at, tool] of listOf(tools).entries()) {
    if (depth > 1) return unsupported(`${path}[${at}].type`, 'tools are named within one another twice at most.');
    const refused = refusedTool((tool as JsonObject).tools, `${path}[${at}].tools`, depth + 1);
    if (refused) return refused;
  }
  return null;
}

/** Returns the tools that the provider would run, in the list of the request and in its items. */
export const hostedToolsOf = (body: JsonObject): readonly HostedTool[] => [
  ...hostedIn(body.tools, 'tools'),
  ...itemsOf(body).flatMap((item, at) => hostedIn(item.tools, `input[${at}].tools`)),
];

function hostedIn(tools: unknown, path: string, depth = 0): readonly HostedTool[] {
  if (depth > 1) return [];
  return listOf(tools).flatMap((tool, at) => {
    const { type, tools: inner } = tool as JsonObject;
    const own = ownTools.has(type) ? [] : [hostedTool(type, `${path}[${at}].type`)];
    return [...own, ...hostedIn(inner, `${path}[${at}].tools`, depth + 1)];
  });
}

function refusedChoice({ input, tool_choice: choice, tools }: JsonObject): ApiError | null {
  if (!isGiven(choice)) return null;
  const offered = namedTools(tools);
  // Tools that stand in an item are offered as well.
  const isOpen = Array.isArray(input) && input.some((item: JsonObject) => Array.isArray(item.tools));
  if (isOpen) return null;
  if ((choice === 'required' || choice === 'any') && offered.length === 0)
    return fieldError('tool_choice', `\`tool_choice\` is ${choice}, and there are no \`tools\`.`);
  if (!isObject(choice)) return null;
  const wanted = choice.type === 'allowed_tools' ? listOf(choice.tools) : [choice];
  for (const each of wanted) {
    const { name, type } = each as JsonObject;
    const isNamed = (type === 'function' || type === 'custom') && typeof name === 'string';
    if (isNamed && !offered.some((tool) => tool.type === type && tool.name === name))
      return fieldError(
        'tool_choice',
        `\`tool_choice\` names \`${name.slice(0, 64)}\`, which is not among the \`tools\`.`,
      );
  }
  return null;
}

const namedTools = (tools: unknown): readonly JsonObject[] =>
  listOf(tools).flatMap((tool) => [tool, ...listOf(tool.tools)]);

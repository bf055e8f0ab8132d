/** Fields of a message that contradict each other, or ask for what the gateway does not let a provider do. */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { hostedTool } from '../openai/hosted-tools.ts';
import { linkInParts } from '../openai/linked-hosts.ts';
import type { HostedTool } from '../port/shape.ts';
import { isObject, listOf } from './prompt-size.ts';

const unsupported = (param: string, why: string): ApiError =>
  apiError('unsupported_field', { param, message: `\`${param}\` is not supported: ${why}` });

const accountOfGateway = 'the account with the provider is the gateway’s. Leave it out.';

/** Fields that name something that a provider keeps, or steer where it runs a call, by why they are refused. */
const refusedFields: Readonly<Record<string, string>> = {
  container: 'no code is run at a provider. Leave it out.',
  inference_geo: 'the gateway chooses where a call runs. Send `gw.region` instead.',
  workspace_id: accountOfGateway,
  user_profile_id: accountOfGateway,
  billing_policy: accountOfGateway,
  fallback_credit_token: accountOfGateway,
  thread: 'nothing is stored. Send the messages of the earlier turns in `messages`.',
};

/** Types of tools that the client runs, and of those that search among the tools of the request. */
const ownTypes = /^(?:custom|(?:bash|text_editor|computer|memory|tool_search_tool(?:_bm25|_regex)?)(?:_\d{8})?)$/;

/** Returns the tools that the provider would run: all that are not known to be the client's. */
export const hostedToolsOf = ({ tools }: JsonObject): readonly HostedTool[] =>
  listOf(tools).flatMap((tool, at) =>
    isObject(tool) && typeof tool.type === 'string' && !ownTypes.test(tool.type)
      ? [hostedTool(tool.type, `tools[${at}].type`)]
      : [],
  );

/** Returns the first reason to refuse a body that the schema has accepted; null if there is none. */
export function messageContradiction(body: JsonObject): ApiError | null {
  for (const [name, why] of Object.entries(refusedFields))
    if (body[name] !== undefined && body[name] !== null) return unsupported(name, why);
  return ofTools(body) ?? ofContents(body);
}

function ofTools({ tool_choice: choice, tools: given }: JsonObject): ApiError | null {
  const tools = listOf(given).filter(isObject);
  for (const [at, { type }] of tools.entries())
    if (type === 'mcp_toolset')
      return unsupported(`tools[${at}].type`, 'the provider would call servers of the request’s choice.');
  if (!isObject(choice)) return null;
  if (choice.type === 'any' && tools.length === 0)
    return fieldError('tool_choice', '`tool_choice` is any, and there are no `tools`.');
  if (choice.type !== 'tool' || tools.some(({ name }) => name === choice.name)) return null;
  return fieldError(
    'tool_choice',
    `\`tool_choice\` names \`${String(choice.name).slice(0, 64)}\`, which is not among the \`tools\`.`,
  );
}

function ofContents({ messages, system }: JsonObject): ApiError | null {
  const found = inContent(system, 'system');
  if (found) return found;
  for (const [at, message] of listOf(messages).entries()) {
    const refused = isObject(message) ? inContent(message.content, `messages[${at}].content`) : null;
    if (refused) return refused;
  }
  return null;
}

/** Blocks lie in results of tools, and in documents that are made of blocks: two levels at most. */
function inContent(content: unknown, path: string, depth = 0): ApiError | null {
  if (!Array.isArray(content) || depth > 3) return null;
  for (const [at, block] of content.entries()) {
    if (!isObject(block)) continue;
    const here = `${path}[${at}]`;
    const { source } = block;
    // A tool that comes amid the conversation can be one that the provider runs.
    if (block.type === 'tool_addition')
      return unsupported(here, 'tools that can be judged are those in `tools`. Send the tool there.');
    if (block.type === 'container_upload' || (isObject(source) && source.type === 'file'))
      return unsupported(
        block.type === 'container_upload' ? here : `${here}.source`,
        'the gateway keeps no files, and those at the provider are not told apart by account. Send the content itself.',
      );
    const refused =
      inContent(block.content, `${here}.content`, depth + 1) ??
      (isObject(source) ? inContent(source.content, `${here}.source.content`, depth + 1) : null);
    if (refused) return refused;
  }
  return linkInParts(content, path);
}

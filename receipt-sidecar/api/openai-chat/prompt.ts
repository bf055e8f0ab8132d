/** The prompt of a chat as far as its tokens can be counted for certain. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Prompt } from '../port/shape.ts';

/** Tokens that frame each message in OpenAI's chat format besides its role, and that open the reply. */
const tokensOfFrame = 3;
const tokensOfRole = 1;
/** Fields that add to the prompt in a form that only the provider knows. */
const beside = ['tools', 'functions', 'response_format'];
const plainFields = new Set(['role', 'content']);

export function chatPrompt(body: JsonObject): Prompt {
  const messages = body.messages as readonly JsonObject[];
  const contents = messages.map(contentOf);
  return {
    texts: contents.map(({ text }) => text),
    frame: messages.length * (tokensOfFrame + tokensOfRole) + tokensOfFrame,
    isWhole: contents.every(({ isWhole }) => isWhole) && !beside.some((field) => body[field] != null),
    together: true,
  };
}

/** Returns the text of a message. Its parts are joined by nothing, so that the count is not too high. */
function contentOf(message: JsonObject): { readonly text: string; readonly isWhole: boolean } {
  const { content } = message;
  const isPlain = Object.keys(message).every((field) => plainFields.has(field) || message[field] === null);
  if (typeof content === 'string') return { text: content, isWhole: isPlain };
  const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
  const texts = parts.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []));
  return { text: texts.join(''), isWhole: isPlain && texts.length === parts.length };
}

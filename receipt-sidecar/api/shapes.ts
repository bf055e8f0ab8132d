/** The APIs that the gateway speaks. */
import { type ApiName, apiNames } from '@gw/contract/internal/catalogue/apis';
import { defined } from '@gw/contract/internal/defined';
import { anthropicCounts, written } from './anthropic-messages/count-shape.ts';
import { anthropicMessages } from './anthropic-messages/shape.ts';
import { openaiChat } from './openai-chat/shape.ts';
import { openaiCompletions } from './openai-completions/shape.ts';
import { openaiEmbeddings } from './openai-embeddings/shape.ts';
import { openaiResponses } from './openai-responses/shape.ts';
import type { ApiShape } from './port/shape.ts';

export const shapes: readonly ApiShape[] = [
  openaiChat,
  openaiCompletions,
  openaiEmbeddings,
  openaiResponses,
  anthropicMessages,
  anthropicCounts,
];

const byPath = new Map(shapes.map((shape) => [shape.path, shape]));
const byName = new Map(shapes.map((shape) => [shape.name, shape]));

/** Returns the API of a path; undefined if no provider serves it. */
export const shapeAt = (path: string): ApiShape | undefined => byPath.get(path);

/** Returns the API by its name, as parsed requests hold it. Throws if there is none. */
export const shapeOf = (name: string): ApiShape => defined(byName.get(name), `The API ${name}`);

/** Returns the name as receipts have it. Throws for what makes none. */
export const apiOf = (name: string): ApiName =>
  defined(
    apiNames.find((each) => each === name),
    `The API ${name}`,
  );

/** Returns the reply to a client that asked for a count. */
export const countReply = (tokens: number): string => written(tokens).text;

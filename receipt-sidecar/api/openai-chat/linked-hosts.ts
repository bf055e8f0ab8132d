/** The links of a chat, which its messages and a prediction can have. */
import type { ApiError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { linkInParts } from '../openai/linked-hosts.ts';

/** Returns the refusal of the first link that no provider is sent to, or null. The schema has to have accepted `body`. */
export function refusedLink(body: JsonObject): ApiError | null {
  for (const [at, message] of (body.messages as readonly JsonObject[]).entries()) {
    const refused = linkInParts(message.content, `messages[${at}].content`);
    if (refused) return refused;
  }
  const { prediction } = body as { readonly prediction?: JsonObject | null };
  return prediction ? linkInParts(prediction.content, 'prediction.content') : null;
}

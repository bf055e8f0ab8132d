import { defined } from '@gw/contract/internal/defined';
import { openaiChat } from '@gw/receipt-sidecar/internals/api/openai-chat/shape';

/** Reads one stream of chat chunks. `answers`: how many the request asked for. */
export const chatReader = (wantsUsage: boolean, answers = 1) =>
  defined(openaiChat.reply.stream, 'The stream of chats').open({ wantsUsage, answers });

import { defined } from '@gw/contract/internal/defined';
import { openaiResponses } from '@gw/receipt-sidecar/internals/api/openai-responses/shape';

/** Reads one stream of a response. */
export const responseReader = () =>
  defined(openaiResponses.reply.stream, 'The stream of responses').open({ wantsUsage: true, answers: 1 });

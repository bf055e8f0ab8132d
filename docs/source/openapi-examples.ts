/** The examples of the OpenAPI document, by the name of their schema. */
import { examples } from './examples.ts';
import { chatEvents, chatReply, chatRequest } from './replies.ts';
import { usageReply } from './usage.ts';

/** The chunk that carries the receipt. */
function lastChunk(): unknown {
  const data = [...chatEvents().matchAll(/^data: (\{.*\})$/gm)].map(([, text = '']) => text);
  return JSON.parse(data.at(-1) ?? 'null');
}

export function openApiExamples(): Readonly<Record<string, unknown>> {
  return {
    ChatCompletionRequest: chatRequest,
    ChatCompletion: chatReply(),
    ChatCompletionChunk: lastChunk(),
    Receipt: examples.parametric.receipt,
    RoutingTrace: examples.parametric.trace,
    Usage: usageReply('restated'),
    // The shortest lineage.
    ReceiptLineage: examples.proxyNarrow.lineageReply,
  };
}

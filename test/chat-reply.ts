/** The answer of a test's provider to a chat call: JSON or a stream, as the call asks for. */
import type { ServerResponse } from 'node:http';

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

/** The body of the call says which model was asked, and whether for a stream. */
export function answerChat(
  response: ServerResponse,
  { model, stream }: Readonly<Record<string, unknown>>,
  content: string,
): void {
  const head = { id: 'c', created: 1, model };
  const choice = { index: 0, finish_reason: 'stop', logprobs: null };
  const message = { role: 'assistant', content };
  if (stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ ...choice, message }];
    return void response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
  }
  const chunk = { ...head, object: 'chat.completion.chunk' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ ...choice, delta: message }] })}\n\n`);
  response.end(`data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\ndata: [DONE]\n\n`);
}

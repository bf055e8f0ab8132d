/** The operator API of the shared gateway, as its admin uses it. */
import { stack } from './shared-stack.ts';

/** Returns status and body of one request under `/operator/v1/`; the body is null where there is none. */
export async function operator(
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const authorization = `Bearer ${stack.operatorToken}`;
  const reply = await fetch(`${stack.controlUrl}/operator/v1/${path}`, {
    method,
    headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
}

/** The same, where anything but success is an error of the test. */
export async function operatorDid(method: string, path: string, body?: object): Promise<void> {
  const reply = await operator(method, path, body);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
}

/** A reply that is an error, with the words of the error catalogue. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, body: unknown, requestId: string | null) {
    const { code, message } = errorOf(body);
    super(message ?? `The gateway answered with the status ${status}.`);
    this.name = 'RefusedError';
    this.status = status;
    this.code = code ?? 'unknown';
    this.requestId = requestId;
  }
}

function errorOf(body: unknown): { readonly code?: string; readonly message?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  const { error } = body;
  return typeof error === 'object' && error !== null ? error : {};
}

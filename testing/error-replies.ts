/**
 * Every error of the public port as a client gets it, in the form of each API, from a server at `/<code>`: with the status, the headers and the
 * body that the product writes.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CatalogueCode, errorCatalogue } from '@gw/contract/error-catalogue';
import { apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { exampleAddresses } from '@gw/contract/internals/example-addresses';
import { isMessagesPath, messagesErrorBody } from '@gw/contract/messages-errors';

export const errorCodes = Object.keys(errorCatalogue) as readonly CatalogueCode[];
export const requestId = 'ddabf0be-613b-4d02-a1d3-dcbeb187c841';

interface ErrorReplies {
  /** The address of a gateway that has nothing but this error. */
  url(code: CatalogueCode): string;
  stop(): Promise<void>;
}

export async function serveErrors(): Promise<ErrorReplies> {
  const server = createServer((request, reply) => {
    request.resume();
    const [, code = '', path = ''] = /^\/(\w+)(.*)$/.exec(request.url ?? '') ?? [];
    const error = apiError(code as CatalogueCode);
    const isMessages = isMessagesPath(path);
    const headers = { 'x-request-id': requestId, ...(isMessages && { 'request-id': requestId }) };
    reply.writeHead(error.status, { ...headers, ...Object.fromEntries(errorHeaders(error)) });
    reply.end(isMessages ? messagesErrorBody(error, exampleAddresses, requestId) : errorBody(error, exampleAddresses));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (code) => `http://127.0.0.1:${port}/${code}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** xDS over REST: Envoy polls with the version it has, and gets 304 or everything. Neither body is ever logged. */
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CredentialView } from '../credentials/credentials.ts';
import type { CatalogueView } from '../snapshot/keeper.ts';
import type { Catalogue } from '../snapshot/read.ts';
import { clusterResponse, type DiscoveryResponse, listenerResponse, secretResponse } from './resources.ts';

const discoveryRequest = z.object({
  version_info: z.string().optional(),
  resource_names: z.array(z.string()).default([]),
  /** Why Envoy refused the answer before. */
  error_detail: z.object({ message: z.string().optional() }).optional(),
});

const discoveryReply = z.strictObject({
  version_info: z.string(),
  type_url: z.string(),
  resources: z.array(z.looseObject({ '@type': z.string() })),
});

/** Envoy's description of itself lists all its extensions. */
const bodyLimit = 4 * 1024 * 1024;
const type = (name: string): string => `type.googleapis.com/envoy.config.${name}`;

export interface XdsOptions {
  readonly catalogue: CatalogueView;
  readonly credentials: CredentialView;
}

export function xdsRoutes(app: FastifyInstance, { catalogue, credentials }: XdsOptions): void {
  type Catalogues = readonly [newest: Catalogue, ...retiring: Catalogue[]];
  const serve = (
    path: string,
    typeUrl: string,
    make: (catalogues: Catalogues, names: string[]) => DiscoveryResponse | null,
  ): void => {
    // A doubled colon is a literal one.
    const options = { bodyLimit, config: { reply: discoveryReply }, schema: { body: discoveryRequest } };
    app.withTypeProvider<ZodTypeProvider>().post(`/v3/discovery::${path}`, options, (request, reply) => {
      const held = catalogue.current();
      if (held === null) throw new Error('the catalogue was not read yet');
      const { version_info, resource_names, error_detail } = request.body;
      if (error_detail !== undefined)
        request.log.error({ path, reason: error_detail.message }, 'Envoy refused its configuration');
      const made = make([held.catalogue, ...catalogue.retiring()], resource_names);
      // Envoy keeps what it has, and asks again. With a 503 it would log a warning each second, for as long as a listener is drained.
      if (made === null) return reply.code(version_info ? 304 : 503).send();
      const { version, resources } = made;
      if (path !== 'secrets') catalogue.asked(path, version_info, version);
      if (version === version_info) return reply.code(304).send();
      return reply.send({ version_info: version, type_url: typeUrl, resources });
    });
  };
  const clusters = unlessSame(clusterResponse);
  serve('clusters', type('cluster.v3.Cluster'), (all) =>
    clusters(all, catalogue.formerPlaces(), catalogue.newPlaces()),
  );
  serve('listeners', type('listener.v3.Listener'), unlessSame(listenerResponse));
  const secretType = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
  serve('secrets', secretType, (all, names) => (credentials.isRead() ? secretResponse(all, credentials, names) : null));
}

/** Makes an answer anew only for something new: all of it takes milliseconds to make and to hash, and every Envoy asks twice a second. */
function unlessSame<Parts extends readonly unknown[]>(make: (...parts: Parts) => DiscoveryResponse) {
  let last: { readonly parts: Parts; readonly made: DiscoveryResponse } | null = null;
  return (...parts: Parts): DiscoveryResponse => {
    if (last === null || !isDeepStrictEqual(last.parts, parts)) last = { parts, made: make(...parts) };
    return last.made;
  };
}

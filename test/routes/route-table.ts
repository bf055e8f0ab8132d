/** The configuration that a running Envoy tells of itself: which listeners it has, and where each route leads. */
import { z } from 'zod';
import { readFrom } from '../outage/instances.ts';

const match = z.looseObject({
  path: z.string().optional(),
  prefix: z.string().optional(),
  safe_regex: z.looseObject({ regex: z.string() }).optional(),
  connect_matcher: z.looseObject({}).optional(),
  headers: z
    .array(
      z.looseObject({
        name: z.string(),
        string_match: z
          .looseObject({ exact: z.string().optional(), safe_regex: z.looseObject({ regex: z.string() }).optional() })
          .optional(),
      }),
    )
    .default([]),
});
const route = z.looseObject({
  name: z.string().default(''),
  match,
  route: z
    .looseObject({
      cluster: z.string().optional(),
      cluster_header: z.string().optional(),
      inline_cluster_specifier_plugin: z.object({}).optional(),
    })
    .optional(),
  typed_per_filter_config: z
    .looseObject({ 'envoy.filters.http.ext_proc': z.looseObject({ disabled: z.boolean().optional() }).optional() })
    .default({}),
});
export type EnvoyRoute = z.infer<typeof route>;

const manager = z.looseObject({
  rds: z.looseObject({}).optional(),
  scoped_routes: z.looseObject({}).optional(),
  route_config: z
    .looseObject({ virtual_hosts: z.array(z.looseObject({ domains: z.array(z.string()), routes: z.array(route) })) })
    .optional(),
});
const listener = z.looseObject({
  name: z.string(),
  address: z
    .looseObject({
      socket_address: z.looseObject({ port_value: z.number() }).optional(),
      pipe: z.looseObject({}).optional(),
    })
    .optional(),
  internal_listener: z.looseObject({}).optional(),
  filter_chains: z.array(z.looseObject({ filters: z.array(z.looseObject({ typed_config: z.unknown() })) })),
});
const dump = z.object({
  configs: z.array(
    z.looseObject({
      '@type': z.string(),
      static_listeners: z.array(z.looseObject({ listener })).optional(),
      dynamic_listeners: z.array(z.looseObject({ active_state: z.looseObject({ listener }).optional() })).optional(),
    }),
  ),
});

export interface Listener {
  readonly name: string;
  /** Null: it can be reached from within Envoy alone, or by a socket on its machine. */
  readonly port: number | null;
  readonly routes: readonly EnvoyRoute[];
}

/** Every listener that runs now. Throws if one gets its routes from elsewhere, where this would not see them. */
export async function listenersOf(adminSocket: string): Promise<Listener[]> {
  const { configs } = dump.parse(JSON.parse(await readFrom(adminSocket, '/config_dump')));
  const running = configs.flatMap(({ static_listeners: fixed = [], dynamic_listeners: dynamic = [] }) => [
    ...fixed.map((each) => each.listener),
    ...dynamic.flatMap(({ active_state: state }) => (state ? [state.listener] : [])),
  ]);
  return running.map((each) => {
    const managers = each.filter_chains.flatMap(({ filters }) =>
      filters.map((filter) => manager.parse(filter.typed_config)),
    );
    if (managers.some(({ rds, scoped_routes: scoped }) => rds || scoped))
      throw new Error(`${each.name} has routes that the dump of listeners does not show.`);
    const routes = managers.flatMap(({ route_config: table }) =>
      (table?.virtual_hosts ?? []).flatMap((host) => host.routes),
    );
    return {
      name: each.name,
      port: each.internal_listener || each.address?.pipe ? null : (each.address?.socket_address?.port_value ?? 0),
      routes,
    };
  });
}

/** Leads on to a service or a provider, or to the sidecar, which may name a provider; the sink by itself answers alone. */
export const forwards = ({ route: action, typed_per_filter_config: filters }: EnvoyRoute): boolean =>
  action !== undefined && (action.cluster !== 'sink' || !filters['envoy.filters.http.ext_proc']?.disabled);

/** Each method that this route takes, with a path. Throws if it is matched by what nobody could list. */
export function samplesOf({ name, match: by }: EnvoyRoute): { method: string; path: string }[] {
  const { exact, safe_regex: several } = by.headers.find((header) => header.name === ':method')?.string_match ?? {};
  const methods = exact === undefined ? several?.regex.split('|') : [exact];
  const path =
    by.path ??
    ['[A-Za-z0-9._~-]+', '(?:[A-Za-z0-9._~:-]|%3[Aa])+', '.+'].reduce(
      (regex, segment) => regex?.replace(segment, 'x'),
      by.safe_regex?.regex,
    );
  const isListed = methods?.every((method) => /^[A-Z]+$/.test(method)) && /^[\w/.-]+$/.test(path ?? '');
  if (methods === undefined || path === undefined || !isListed)
    throw new Error(`The route ${name} takes more methods or paths than could be listed: ${JSON.stringify(by)}`);
  return methods.map((method) => ({ method, path }));
}

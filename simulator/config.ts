export interface Config {
  readonly host: string;
  readonly port: number;
}

/** Reads where the simulator listens. Port 0 takes a free one, which is printed at startup. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const listen = env.GW_SIM_LISTEN ?? '127.0.0.1:9000';
  const match = /^(.+):(\d{1,5})$/.exec(listen);
  const host = match?.[1]?.replace(/^\[|\]$/g, '');
  const port = Number(match?.[2]);
  if (host === undefined || port > 65535) {
    throw new Error(`GW_SIM_LISTEN has to be host:port, for example 127.0.0.1:9000; it is "${listen}"`);
  }
  return Object.freeze({ host, port });
}

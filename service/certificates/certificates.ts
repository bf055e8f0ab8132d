/**
 * The certificates that a service uses, and how long they last.
 *
 * Invariants: new files are taken up without a restart, and connections that are open stay open. Files that do not fit together, as halfway
 * through a replacement, are not taken up: the former certificates stay in use. What an operator has to do is in the log, in `/healthz`
 * and in `gw_up{dependency="certificates"}`; calls go on meanwhile (fail open).
 */
import { readFile } from 'node:fs/promises';
import type { Server, TlsOptions } from 'node:tls';
import { dayMs } from '@gw/contract/internal/durations';
import type { InternalTls } from '@gw/contract/internal/environment';
import { errorText } from '@gw/contract/internal/error-text';
import { Gauge, type Registry } from 'prom-client';
import type { Troubles } from '../health/troubles.ts';
import type { Logger } from '../log.ts';
import type { CertificateFiles } from './certificate-files.ts';
import { chainLifetime, isEnding, type Lifetime } from './lifetime.ts';
import { openRefusedHandshakes } from './refused-handshakes.ts';
import { ReloadedCertificates } from './reloaded.ts';

export interface ServedCertificates {
  /** For a connection that begins now. */
  current(): TlsOptions;
  /** Gives `server` each new certificate. */
  follow(server: Server): void;
}

/** The certificates between the parts; the handshakes that a server refuses are logged. */
export type InternalCertificates = ServedCertificates;

export interface Certificates {
  /** For connections between the parts; null: they are plain. */
  readonly internal: InternalCertificates | null;
  /** The certificate of the operators' port; null: it speaks plain HTTP. */
  readonly operators: ServedCertificates | null;
  /** Tells what operators have to do, a sentence for each file. */
  problems(): readonly string[];
  /** For `gw_up`; empty without certificates. */
  details(): Readonly<Record<string, boolean>>;
  register(registry: Registry): void;
  stop(): void;
}

interface CertificateOptions {
  readonly internal: InternalTls | null;
  readonly operators?: CertificateFiles | null;
  /** Files of Envoy, of which only the end is watched, if this process may read them. */
  readonly watched?: readonly string[];
  readonly log: Logger;
  /** Where it tells what operators have to do, as `certificates`. */
  readonly troubles: Pick<Troubles, 'tell' | 'over'>;
  readonly now?: () => number;
  readonly everyMs?: number;
}

/** Kubernetes needs up to a minute to show new files, so this hardly delays them. */
const readEveryMs = 2000;

/** Resolves when all files were read. Rejects if certificates that this process serves cannot be used. */
export async function openCertificates(options: CertificateOptions): Promise<Certificates> {
  const { log, troubles, watched = [], now = Date.now, everyMs = readEveryMs } = options;
  const reloaded = (what: string, files: CertificateFiles | null = null) =>
    files && new ReloadedCertificates(what, files, log, now);
  const internal = reloaded('internal certificates', options.internal);
  const operators = reloaded(operatorCertificates, options.operators);
  const served = [internal, operators].filter((each) => each !== null);
  if (served.length + watched.length === 0) return noCertificates;
  const handshakes = openRefusedHandshakes(log, now);
  const outside = new OutsideCertificates(watched, log);
  const lifetimes = () => [...served.flatMap((each) => each.lifetimes()), ...outside.lifetimes];
  const problems = () => [
    ...served.flatMap((each) => each.problems()),
    ...lifetimes().flatMap(([file, lifetime]) => endText(file, lifetime, now())),
  ];
  const look = async () => {
    await Promise.all([...served, outside].map((each) => each.read()));
    const text = problems().join(' ');
    if (text === '') troubles.over('certificates');
    else troubles.tell('certificates', text);
  };
  await look();
  const timer = setInterval(look, everyMs).unref();
  return {
    internal: internal && {
      current: () => internal.current(),
      follow: (server) => {
        internal.follow(server);
        handshakes.watch(server);
      },
    },
    operators,
    problems,
    details: () => ({ certificates: problems().length === 0 }),
    register: (registry) => {
      registry.registerMetric(expiryGauge(lifetimes, now));
      handshakes.register(registry);
    },
    stop: () => clearInterval(timer),
  };
}

const operatorCertificates = "operators' certificates (GW_CONTROL_TLS_CERT_FILE, GW_CONTROL_TLS_KEY_FILE)";

const noCertificates: Certificates = {
  internal: null,
  operators: null,
  problems: () => [],
  details: () => ({}),
  register: () => undefined,
  stop: () => undefined,
};

type FileLifetime = readonly [file: string, lifetime: Lifetime | null];

/** Files that only others use. */
class OutsideCertificates {
  readonly #files: readonly string[];
  readonly #log: Logger;
  readonly #unread = new Set<string>();
  lifetimes: readonly FileLifetime[] = [];

  constructor(files: readonly string[], log: Logger) {
    this.#files = files;
    this.#log = log;
  }

  /** Never rejects. */
  async read(): Promise<void> {
    this.lifetimes = await Promise.all(
      this.#files.map(async (file): Promise<FileLifetime> => {
        try {
          const lifetime = chainLifetime(await readFile(file, 'utf8'));
          this.#unread.delete(file);
          return [file, lifetime];
        } catch (cause) {
          if (!this.#unread.has(file))
            this.#log.warn(
              `the expiry of a certificate is not watched, because this process cannot read the file: ${errorText(cause)}`,
            );
          this.#unread.add(file);
          return [file, null];
        }
      }),
    );
  }
}

function endText(file: string, lifetime: Lifetime | null, now: number): readonly string[] {
  if (lifetime === null || !isEnding(lifetime, now)) return [];
  const at = new Date(lifetime.until).toISOString();
  if (lifetime.until <= now) return [`The certificate in ${file} expired at ${at}. Renew it.`];
  const days = ((lifetime.until - now) / dayMs).toFixed(1);
  return [`The certificate in ${file} expires at ${at}, in ${days} days. Renew it.`];
}

const expiryGauge = (lifetimes: () => readonly FileLifetime[], now: () => number): Gauge =>
  new Gauge({
    name: 'gw_tls_certificate_expiry_seconds',
    help: 'Seconds until a certificate expires; negative after that',
    labelNames: ['file'],
    registers: [],
    collect() {
      this.reset();
      for (const [file, lifetime] of lifetimes())
        if (lifetime !== null) this.set({ file }, Math.round((lifetime.until - now()) / 1000));
    },
  });

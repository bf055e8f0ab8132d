/** The messages between a service and the thread that serves its health (health-worker.js). */

export interface HealthReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** The paths that the service itself has to answer. */
export type AskedPath = '/healthz' | '/readyz' | '/metrics';

export interface HealthThreadData {
  readonly part: string;
  readonly logLevel: string;
  /** `host:port`, or null. */
  readonly listen: string | null;
  readonly metricsListen: string | null;
  readonly allowedHosts: readonly string[];
  readonly times: HealthTimes;
}

export interface HealthTimes {
  /** How long an answer of the service is waited for, ms. */
  readonly patienceMs: Readonly<Record<AskedPath, number>>;
  /** How long the event loop may stand still before the log tells it, s. */
  readonly toldAfterS: number;
  /** How long before the process should be started again, s. */
  readonly deadAfterS: number;
  readonly lookEveryMs: number;
}

export type ToHealthThread =
  /** The event loop has turned. */
  { readonly turned: true } | { readonly answerTo: number; readonly reply: HealthReply };

/** Whether it listens. A first listener may ask before the second one is bound. */
export type HealthBegun = { readonly port: number; readonly metricsPort: number } | { readonly failed: string };

export type FromHealthThread = HealthBegun | { readonly question: number; readonly path: AskedPath };

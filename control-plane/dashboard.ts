/**
 * The web pages of the operators' port, under `/dashboard/`.
 *
 * Invariant: what is served are the files of the build, the same for everybody; what a person may see and do, the routes
 * behind them decide. A page, and a worker of it, may load scripts and styles of its own origin alone, and nobody may frame it.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import files from '@fastify/static';
import { pageWalls } from '@gw/contract/internal/html-text';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const path = '/dashboard/';
const noncePlace = '{nonce}';

interface PageQuery {
  readonly login_failed?: unknown;
}

/** Beside the bundle of the service, or where the build puts them when the source runs. */
const folders = [new URL('./dashboard/', import.meta.url), new URL('../dist/dashboard/', import.meta.url)];

const anybody = { config: { access: { kind: 'public' }, reply: null, described: false } } as const;

/** The page of the login has to know this. */
export interface LoginWords {
  /** Who can log in with an identity provider. */
  kinds(): Promise<readonly string[]>;
  /** Why a login failed, in a fixed sentence without characters that mean something in HTML; empty if none has. */
  failure(parameter: unknown): string;
}

/** Registers the pages, and the way to them from `/`. Where they were not built, nothing is registered. */
export function dashboardRoutes(app: FastifyInstance, login: LoginWords): void {
  const folder = folders.map((url) => fileURLToPath(url)).find((each) => existsSync(`${each}index.html`));
  if (folder === undefined) {
    app.log.warn('the pages of the dashboard were not built: node cli/prepare.mjs builds them');
    return;
  }
  // Read each time: a build that goes on beside a running gateway names other files in it.
  const page = async (
    request: FastifyRequest<{ Querystring: PageQuery }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const kinds = await login.kinds();
    const index = (await readFile(`${folder}index.html`, 'utf8'))
      .replace('{oidc}', kinds.join(' '))
      .replace('{login-failed}', login.failure(request.query.login_failed));
    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({ 'content-security-policy': policyOf(nonce), ...pageWalls })
      .type('text/html; charset=utf-8')
      .send(index.replaceAll(noncePlace, nonce));
  };
  void app.register(files, { root: `${folder}assets`, serve: false, preCompressed: true });
  app.get('/', anybody, (_request, reply) => reply.redirect(path));
  app.get(path.slice(0, -1), anybody, (_request, reply) => reply.redirect(path));
  // Each name holds the digest of the file, so it never changes.
  app.get<{ Params: { '*': string } }>(`${path}assets/*`, anybody, (request, reply) =>
    reply
      .headers({ ...pageWalls, 'content-security-policy': workerPolicy })
      .sendFile(request.params['*'], { maxAge: '365d', immutable: true }),
  );
  // The pages have addresses of their own; the script shows the one that is asked for.
  app.get<{ Querystring: PageQuery }>(`${path}*`, { config: { ...anybody.config, anyQuery: true } }, page);
}

/** A worker has the policy that its own script came with. To what is part of a page it means nothing. */
const workerPolicy = ["default-src 'none'", "script-src 'self'"].join('; ');

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The classes that the official clients of OpenAI and of Anthropic throw: they go by the status, and Anthropic's have more of them. */
const shared: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [403, 'PermissionDeniedError'],
  [404, 'NotFoundError'],
  [409, 'ConflictError'],
  [429, 'RateLimitError'],
]);
const anthropics: ReadonlyMap<number, string> = new Map([
  [408, 'RequestTimeoutError'],
  [413, 'ContentTooLargeError'],
  [503, 'ServiceUnavailableError'],
]);
const ofServers = 'InternalServerError';
/** Python's clients call the class of any other status by another name. */
const others = { node: 'APIError', python: 'APIStatusError' } as const;

type Maker = 'openai' | 'anthropic';

export const clientClass = (status: number, maker: Maker, language: keyof typeof others): string =>
  shared.get(status) ??
  (maker === 'anthropic' ? anthropics.get(status) : undefined) ??
  (status >= 500 ? ofServers : others[language]);

/** The same as the rows of a table: the status, the class of OpenAI's clients, and that of Anthropic's. */
export function classRows(): readonly string[] {
  const known = [...shared.keys(), ...anthropics.keys()].sort((a, b) => a - b);
  const row = (title: string, status: number): string => {
    const [openai, anthropic] = (['openai', 'anthropic'] as const).map((maker) => clientClass(status, maker, 'node'));
    return `| ${title} | \`${openai}\` | \`${anthropic}\` |`;
  };
  return [...known.map((status) => row(String(status), status)), row('any other from 500', 500), row('any other', 405)];
}

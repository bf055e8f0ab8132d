/** Describes the fields of requests for tests: values that are accepted, and values that are refused. */
/** The APIs, by the names of their shapes. */
export type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages';

/** A wrong value with the code of its error, and the path if it is not the field. */
type Wrong = readonly [value: unknown, code: string, param?: string];
export interface Field {
  readonly endpoints: readonly Endpoint[];
  readonly good: readonly unknown[];
  readonly bad: readonly Wrong[];
  /** Further fields that the good values need. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

export const both: readonly Endpoint[] = ['chat', 'completions'];
export const chat: readonly Endpoint[] = ['chat'];
export const missing = 'missing_required_parameter';

export const range = (field: string, low: number, high: number, endpoints = both): [string, Field] => [
  field,
  {
    endpoints,
    good: [low, high, (low + high) / 2, null],
    bad: [low - 0.1, high + 0.1, String(low), [low], true].map((value) => [value, `invalid_${field}`]),
  },
];
export const count = (field: string, low: number, high: number | null, endpoints = both): [string, Field] => [
  field,
  {
    endpoints,
    good: [low, high ?? 1_000_000, null],
    bad: [low - 1, low + 0.5, String(low), {}, ...(high === null ? [] : [high + 1])].map((value) => [
      value,
      `invalid_${field}`,
    ]),
  },
];
export const flag = (field: string, endpoints = both): [string, Field] => [
  field,
  { endpoints, good: [true, false, null], bad: ['true', 1, {}].map((value) => [value, `invalid_${field}`]) },
];
export const text = (field: string, endpoints = both, longest: number | null = null): [string, Field] => [
  field,
  {
    endpoints,
    good: ['text', null, ...(longest === null ? [] : ['x'.repeat(longest)])],
    bad: [5, ['text'], {}, ...(longest === null ? [] : ['x'.repeat(longest + 1)])].map((value) => [
      value,
      `invalid_${field}`,
    ]),
  },
];

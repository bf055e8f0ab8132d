/** The headers about limits in the OpenAPI document. */
type Json = Record<string, unknown>;

export const header = (schema: Json, description: string): Json => ({ description, schema });
export const count: Json = { type: 'integer', minimum: 0 };

/** Every call that counts has them; reads have those about requests alone. */
export const ofCalls = {
  'x-ratelimit-limit-requests': header(count, 'Size of the token bucket'),
  'x-ratelimit-remaining-requests': header(count, 'Tokens left in the bucket'),
  'x-ratelimit-reset-requests': header(
    { type: 'number', minimum: 0 },
    'Seconds to the next token; 0 while one is there',
  ),
  'x-ratelimit-limit-day': header(count, 'Requests per UTC day'),
  'x-ratelimit-remaining-day': header(count, 'Requests left today'),
  'x-ratelimit-reset-day': header(count, 'Seconds to midnight UTC'),
} as const;

/** Only where the account or the key has such limits. */
export const ofTokens = {
  'x-ratelimit-limit-tokens': header(count, 'Tokens of prompts and answers per minute, where these are limited'),
  'x-ratelimit-remaining-tokens': header(count, 'Tokens left, after what this call has reserved'),
  'x-ratelimit-reset-tokens': header(
    { type: 'number', minimum: 0 },
    'Seconds until as many are there as this call has reserved; 0 while they are',
  ),
  'x-ratelimit-limit-tokens-day': header(count, 'Tokens per UTC day, where these are limited'),
  'x-ratelimit-remaining-tokens-day': header(count, 'Tokens left today, after what this call has reserved'),
  'x-ratelimit-reset-tokens-day': header(count, 'Seconds to midnight UTC'),
} as const;

export const limitHeaders = Object.keys(ofCalls) as (keyof typeof ofCalls)[];
export const tokenHeaders = Object.keys(ofTokens) as (keyof typeof ofTokens)[];

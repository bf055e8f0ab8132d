/** Text within HTML, and what keeps a page of ours apart from others. */

export const escaped = (text: unknown): string =>
  String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Headers of each page for people, beside the content policy that fits it. */
export const pageWalls = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

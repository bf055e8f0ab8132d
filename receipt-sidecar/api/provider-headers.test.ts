import { describe, expect, it } from 'vitest';
import { providerHeaders } from './provider-headers.ts';

const headersOf = (endpoint: string, apis: readonly string[], given: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(providerHeaders(endpoint, new Set(apis), (name) => given[name]));

describe('the headers of a provider', () => {
  it('are none for the APIs of OpenAI, whatever the client sends', () => {
    const given = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' };
    expect(headersOf('chat', ['chat'], given)).toEqual({});
    expect(headersOf('messages', ['chat'], given)).toEqual({});
  });

  it("name the version of Messages: the client's, if it speaks that API, else the usual one", () => {
    expect(headersOf('messages', ['messages'], { 'anthropic-version': '2024-01-02' })).toEqual({
      'anthropic-version': '2024-01-02',
    });
    for (const version of ['', 'x', '2024-01-02\r\nx: y'])
      expect(headersOf('messages', ['messages'], { 'anthropic-version': version })).toEqual({
        'anthropic-version': '2023-06-01',
      });
    expect(headersOf('chat', ['chat', 'messages'], { 'anthropic-version': '2024-01-02' })).toEqual({
      'anthropic-version': '2023-06-01',
    });
  });

  it('switch on features by which the provider calls nobody else and keeps nothing', () => {
    const betas = [
      'claude-code-20250219',
      'computer-use-2025-11-24',
      'interleaved-thinking-2025-05-14',
      'mcp-client-2025-04-04',
      'code-execution-2025-05-22',
      'files-api-2025-04-14',
      'context-1m-2025-08-07-x',
      'context-1m',
    ];
    expect(headersOf('messages', ['messages'], { 'anthropic-beta': betas.join(', ') })).toMatchObject({
      'anthropic-beta': 'claude-code-20250219,computer-use-2025-11-24,interleaved-thinking-2025-05-14',
    });
    expect(headersOf('messages', ['messages'], { 'anthropic-beta': 'skills-2025-10-02' })).not.toHaveProperty(
      'anthropic-beta',
    );
  });
});

/** Fields of chats besides sampler, messages and tools. */
import { chat, type Field, flag, missing, text } from './field.ts';

const pairs = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, at) => [`key${at}`, 'value']));

export const chatFields: readonly [string, Field][] = [
  flag('parallel_tool_calls', chat),
  flag('store', chat),
  text('reasoning_effort', chat, 64),
  text('verbosity', chat, 64),
  text('service_tier', chat, 64),
  text('prompt_cache_key', chat),
  text('prompt_cache_retention', chat, 64),
  text('safety_identifier', chat, 64),
  [
    'metadata',
    {
      endpoints: chat,
      good: [{}, { key: 'value' }, pairs(16), { ['k'.repeat(64)]: 'v'.repeat(512) }, null],
      bad: [
        [pairs(17), 'invalid_metadata'],
        [{ key: 5 }, 'invalid_metadata', 'metadata.key'],
        [{ key: null }, 'invalid_metadata', 'metadata.key'],
        [{ key: 'v'.repeat(513) }, 'invalid_metadata', 'metadata.key'],
        [{ ['k'.repeat(65)]: 'v' }, 'invalid_metadata', `metadata.${'k'.repeat(64)}`],
        ['text', 'invalid_metadata'],
      ],
    },
  ],
  [
    'modalities',
    {
      endpoints: chat,
      good: [['text'], ['text', 'audio'], ['image'], null],
      bad: [
        ['text', 'invalid_modalities'],
        [[], 'invalid_modalities'],
        [[5], 'invalid_modalities', 'modalities[0]'],
      ],
    },
  ],
  [
    'audio',
    {
      endpoints: chat,
      good: [{ format: 'wav', voice: 'alloy' }, { format: 'mp3', voice: { id: 'voice_1' } }, null],
      bad: [
        ['wav', 'invalid_audio'],
        [{ voice: 'alloy' }, missing, 'audio.format'],
        [{ format: 'wav' }, missing, 'audio.voice'],
        [{ format: 5, voice: 'alloy' }, 'invalid_format', 'audio.format'],
        [{ format: 'wav', voice: {} }, missing, 'audio.voice.id'],
      ],
    },
  ],
  [
    'prediction',
    {
      endpoints: chat,
      good: [{ type: 'content', content: 'a' }, { type: 'content', content: [{ type: 'text', text: 'a' }] }, null],
      bad: [
        ['a', 'invalid_prediction'],
        [{ type: 'content' }, missing, 'prediction.content'],
        [{ content: 'a' }, missing, 'prediction.type'],
        [{ type: 'content', content: [{ type: 'text' }] }, missing, 'prediction.content[0].text'],
      ],
    },
  ],
  [
    'moderation',
    {
      endpoints: chat,
      good: [{ model: 'omni' }, { model: 'omni', policy: { input: { mode: 'block' } } }, null],
      bad: [
        [{}, missing, 'moderation.model'],
        [{ model: 'omni', policy: 'block' }, 'invalid_policy', 'moderation.policy'],
      ],
    },
  ],
  [
    'prompt_cache_options',
    {
      endpoints: chat,
      good: [{}, { mode: 'explicit', ttl: '30m' }, null],
      bad: [
        ['explicit', 'invalid_prompt_cache_options'],
        [{ mode: 5 }, 'invalid_mode', 'prompt_cache_options.mode'],
        [{ ttl: 30 }, 'invalid_ttl', 'prompt_cache_options.ttl'],
      ],
    },
  ],
  [
    'web_search_options',
    {
      endpoints: chat,
      good: [
        {},
        { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Paris' } } },
        { user_location: null },
        null,
      ],
      bad: [
        [true, 'invalid_web_search_options'],
        [{ search_context_size: 5 }, 'invalid_search_context_size', 'web_search_options.search_context_size'],
        [{ user_location: { type: 'approximate' } }, missing, 'web_search_options.user_location.approximate'],
        [
          { user_location: { type: 'approximate', approximate: { country: 5 } } },
          'invalid_country',
          'web_search_options.user_location.approximate.country',
        ],
      ],
    },
  ],
];

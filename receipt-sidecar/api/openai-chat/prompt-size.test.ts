import { readFileSync } from 'node:fs';
import { estimatedCounts } from '@gw/methodology/factors';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it, vi } from 'vitest';
import { sizeOfTexts } from '../port/prompt-size.ts';
import { chatPromptSize } from './prompt-size.ts';

const file = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const texts: Readonly<Record<string, string>> = {
  'English prose': file('../../../docs/failure-modes.md'),
  TypeScript: file('../../call/call.ts'),
  Python: file('../../../docs/examples/recompute.py'),
  JSON: file('../../../docs/examples/receipt.json'),
  SVG: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 320" role="img">${Array.from(
    { length: 40 },
    (_, index) =>
      `<rect x="${(index * 17.3).toFixed(1)}" y="40" width="12.5" height="${index * 6}" fill="#2a6f97"/><text x="8" y="${index * 7}" font-size="12">embodied, kWh ${index}</text>`,
  ).join('\n')}</svg>`,
  digits: Array.from({ length: 200 }, (_, index) => ((index * 7919) % 100_003) / 7).join(', '),
  emoji: '🌍🎉🚀 ok 🙏🏽 👍'.repeat(20),
  German:
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.',
  Finnish:
    'Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto.',
  Russian:
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
  Arabic:
    'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.',
  Hebrew: 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.',
  Hindi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है।',
  Chinese: '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。',
  Japanese: 'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。',
  Thai: 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม',
};

it.each(Object.entries(texts))('an estimate of %s is within the ratio that the methodology states', (_, text) => {
  const estimate = sizeOfTexts(text, Buffer.byteLength(text)).estimatedPromptTokens;
  for (const count of [o200k, cl100k]) {
    expect(count(text)).toBeLessThanOrEqual(estimate * estimatedCounts.ratio);
    expect(count(text)).toBeGreaterThanOrEqual(estimate / estimatedCounts.ratio);
  }
});

it('an estimate of tools and of their calls is that of their JSON, of which no text is made', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string', description: 'Stadt, où '.repeat(20) } } };
  const tools = Array.from({ length: 40 }, (_, index) => ({
    type: 'function',
    function: { name: `f${index}`, strict: true, parameters },
  }));
  const calls = tools.map((_, index) => ({
    id: `call_${index}`,
    function: { name: 'f', arguments: '{"city":"Köln"}' },
  }));
  const body = { messages: [{ role: 'assistant', content: null, tool_calls: calls }], tools };
  const bytes = Buffer.byteLength(JSON.stringify(tools)) + Buffer.byteLength(JSON.stringify(calls));
  const made = vi.spyOn(JSON, 'stringify');
  const { estimatedPromptTokens } = chatPromptSize(body, bytes);
  expect(made).not.toHaveBeenCalled();
  made.mockRestore();
  expect(Math.abs(estimatedPromptTokens / (bytes / 4) - 1)).toBeLessThan(0.05);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mediumOf } from './media-text.ts';

const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64');
const words = (value: string, isBytes = false): string | undefined => mediumOf(value, isBytes)?.words;

test('a text file is read, whatever type of text it is said to be', () => {
  for (const type of [
    'text/plain',
    'text/csv;charset=utf-8',
    'application/json',
    'application/ld+json',
    'image/svg+xml',
    '',
    ';x=y',
  ])
    expect(words(`data:${type};base64,${base64('how to ä')}`), type).toBe('how to ä');
});

test('bytes that begin as text are read, whatever they are said to be', () => {
  for (const type of ['image/png', 'application/pdf', 'audio/wav'])
    expect(words(`data:${type};base64,${base64('how to')}`), type).toBe('how to');
  expect(words(base64('how to'), true)).toBe('how to');
});

test('a bad byte hides nothing of a text file', () => {
  expect(words(`data:text/plain;base64,${base64(Buffer.from([0xff, 0x61, 0x80, 0x62]))}`)).toContain('b');
  expect(words(`data:text/plain;base64,${base64('how to')}*`)).toContain('how to');
});

test('UTF-16 is read, with its mark or without', () => {
  const utf16 = Buffer.from('how to', 'utf16le');
  expect(words(`data:text/plain;base64,${base64(utf16)}`)).toBe('how to');
  expect(words(`data:text/plain;base64,${base64(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]))}`)).toBe('how to');
  expect(
    words(`data:text/plain;base64,${base64(Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]))}`),
  ).toBe('how to');
});

test('a data URL without base64 is read as it is and decoded', () => {
  expect(mediumOf('data:text/plain,how%20to%ffmake', false)).toEqual({
    text: 'data:text/plain,how%20to%ffmake',
    words: 'how to\ufffdmake',
  });
  expect(words('data:,%1how%%74o%')).toBe('%1how%to%');
});

test('images, sound and documents hold no words, and their bytes are left out', () => {
  const beginnings = {
    png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d],
    jpeg: [0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a, 0x46, 0x49, 0x46],
    gif: [...Buffer.from('GIF89a'), 0x01, 0x00, 0x01, 0x00, 0x80, 0xff],
    webp: [...Buffer.from('RIFF'), 0x24, 0x9a, 0x01, 0x00, ...Buffer.from('WEBPVP8 ')],
    wav: [...Buffer.from('RIFF'), 0x24, 0x9a, 0x01, 0x00, ...Buffer.from('WAVEfmt '), 0x10],
    mp3: [...Buffer.from('ID3'), 0x03, 0x00, 0x00],
    pdf: [...Buffer.from('%PDF-1.7\n%'), 0xe2, 0xe3, 0xcf, 0xd3, 0x0a],
    zip: [0x50, 0x4b, 0x03, 0x04, 0x14],
  };
  for (const [kind, bytes] of Object.entries(beginnings)) {
    const file = base64(Buffer.concat([Buffer.from(bytes), Buffer.from('how to')]));
    expect(mediumOf(`data:x/${kind};base64,${file}`, false), kind).toEqual({
      text: `data:x/${kind};base64,`,
      words: '',
    });
    expect(mediumOf(file, true), kind).toEqual({ text: '', words: '' });
  }
});

test('plain text is no medium', () => {
  for (const text of ['', 'data', 'data: how to', 'https://a.example/data:,x', 'Zm9v'])
    expect(mediumOf(text, false)).toBeNull();
});

test('whatever is sent as a text file is read', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const read = text.replaceAll('\0', '').replace(/^\ufeff/, '');
      expect(words(`data:text/plain;base64,${base64(text)}`)).toBe(read);
      expect(words(`data:,${encodeURIComponent(text)}`)).toContain(read.slice(0, 1));
    }),
  );
});

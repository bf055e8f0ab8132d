import { describe, expect, it } from 'vitest';
import { refusedLink } from './linked-hosts.ts';

const withPart = (part: object) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, part] }] });
const ofImage = (url: string) => refusedLink(withPart({ type: 'image_url', image_url: { url } }));

describe('a link', () => {
  it.each([
    ...[
      'http://169.254.169.254/latest/meta-data/',
      'https://169.254.1.1',
      '  HTTP://169.254.169.254:80/',
      'ftp://169.254.0.1',
    ],
    ...[
      'http://2852039166/',
      'http://0xa9fea9fe/',
      'http://0xA9.0xFE.0xA9.0xFE/',
      'http://0251.0376.0251.0376/',
      'http://169.254.43518',
    ],
    ...[
      'http://１６９.254.169.254/',
      'http://169.254.169.254./',
      'http://169%2e254.169.254/',
      'http://u:p@169.254.169.254/',
    ],
    ...[
      'http://[fe80::1]/',
      'http://[FEBF::1]:8080/x',
      'http://[::ffff:169.254.169.254]/',
      'http://[::ffff:a9fe:a9fe]/',
    ],
    ...['http://[64:ff9b::169.254.169.254]/', 'http://[2002:a9fe:a9fe::]/', 'http://[fd00:ec2::254]/'],
    ...[
      'http://metadata.google.internal/x',
      'http://100.100.100.200/',
      'http://0.0.0.0/',
      'http://224.0.0.1/',
      'http://[::]/',
    ],
    ...[
      'http:169.254.169.254/x',
      'http:/169.254.169.254',
      'http:\\\\169.254.169.254\\x',
      '//169.254.169.254/x',
      '\\/169.254.169.254',
    ],
    ...[
      'ht\ntp://169.254.169.254/',
      '\u0000http://169.\t254.169.254/',
      'gopher://169.254.169.254/',
      'gopher://2852039166/',
      '/\n/169.254.169.254',
    ],
  ])('to %j is refused, by its place', (url) => {
    expect(ofImage(url)).toMatchObject({
      status: 400,
      code: 'invalid_url',
      param: 'messages[0].content[1].image_url.url',
      message: expect.stringContaining('no provider is sent to'),
    });
  });

  it.each([
    'http://[fe80::1%25eth0]/',
    'http://[fe80::1%eth0]/',
    'http://',
    'https://1.2.3.4.5.6/',
    'http://a:99999/',
    '//[',
  ])('that cannot be read is refused: %s', (url) => {
    expect(ofImage(url)).toMatchObject({
      code: 'invalid_url',
      message: expect.stringContaining('is not a URL that can be read'),
    });
  });

  it.each([
    ...[
      'https://img.example/a.png?at=http://169.254.169.254/',
      'data:image/png;base64,AAAA',
      'DATA:image/png;base64,//8=',
    ],
    ...['aGVsbG8=', 'file-abc', '/9j/4AAQSkZJRg', 'gs://a_bucket/a.png', 'x-id:{a b}'],
    // Private servers of models are reached so.
    ...[
      'http://127.0.0.1:9/a.png',
      'http://[::1]/',
      'http://10.0.0.7/a.png',
      'http://192.168.1.2/',
      'http://images.internal/a',
    ],
  ])('to %s goes on', (url) => {
    expect(ofImage(url)).toBeNull();
  });

  it('is found in each place that holds one', () => {
    const url = 'http://169.254.169.254/';
    const found = (part: object) => refusedLink(withPart(part))?.param?.replace('messages[0].content[1].', '');
    expect(found({ type: 'image_url', image_url: url })).toBe('image_url');
    expect(found({ type: 'video_url', video_url: { url } })).toBe('video_url.url');
    expect(found({ type: 'input_file', file_url: url })).toBe('file_url');
    expect(found({ type: 'file', file: { file_uri: url } })).toBe('file.file_uri');
    expect(found({ type: 'text', text: url })).toBeUndefined();
    const prediction = { type: 'content', content: [{ type: 'image_url', image_url: { url } }] };
    expect(refusedLink({ messages: [{ role: 'user', content: 'x' }], prediction })?.param).toBe(
      'prediction.content[0].image_url.url',
    );
  });
});

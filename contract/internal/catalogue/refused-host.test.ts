import { expect, test } from 'vitest';
import { refusedHost } from './refused-host.ts';

const refused = [
  ...['169.254.169.254', '169.254.0.1', '0xA9FEA9FE', '0xa9.0xfe.0xa9.0xfe', '2852039166', '0251.0376.0251.0376'],
  ...['169.254.43518', '169.254.169.254.', '１６９.254.169.254', '[fe80::1]', '[febf::1]', '[::ffff:169.254.169.254]'],
  ...['[::ffff:a9fe:a9fe]', '[0:0:0:0:0:ffff:a9fe:a9fe]', '[::169.254.169.254]', '[64:ff9b::a9fe:a9fe]'],
  ...['[64:ff9b:1::a9fe:a9fe]', '[2002:a9fe:a9fe::1]', '[::ffff:0:a9fe:a9fe]', '[fd00:ec2::254]', '[fd20:ce::254]'],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192', '0.0.0.0', '0', '0.1.2.3', '[::]', '224.0.0.1'],
  ...[
    '239.255.255.255',
    '255.255.255.255',
    '[ff02::1]',
    'metadata',
    'metadata.google.internal',
    'METADATA.google.internal.',
  ],
  ...['metadata.goog', 'instance-data', 'instance-data.ec2.internal', 'a.metadata.google.internal'],
];
test.each(refused)('%s is refused with a reason', (host) => {
  expect(refusedHost(`http://${host}/v1`)).toEqual(expect.any(String));
});

const passed = [
  ...['llm.example.com', 'localhost', '127.0.0.1', '127.1', '[::1]', '10.0.0.1', '192.168.1.2', '172.16.0.1'],
  ...['[fd12:3456::1]', '100.64.0.1', '[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[2001:db8::a9fe:a9fe]', '1.1.1.1'],
  ...['169.253.255.255', '169.255.0.0', 'metadata.example.com', 'vllm', '[64:ff9b::a00:1]', 'my-metadata.example'],
];
test.each(passed)('%s passes', (host) => {
  expect(refusedHost(`http://${host}/v1`)).toBeNull();
});

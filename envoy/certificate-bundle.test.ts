import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, expect, it } from 'vitest';
import {
  bundleNotice,
  envoyFolder,
  findCertificateBundle,
  installCertificateBundle,
  systemAuthorities,
} from './certificate-bundle.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-bundle-'));
const at = (name: string) => join(dir, name);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const [first, second] = [makeCertificate('first').certificate.trim(), makeCertificate('second').certificate.trim()];
const broken = first.replace(/\n.*\n/, '\nAAAA\n');
mkdirSync(at('folder'));
writeFileSync(at('red-hat.pem'), `# First\n${first}\n`);
writeFileSync(at('suse.pem'), `${second}\n`);
writeFileSync(at('folder/a.0'), first);
writeFileSync(at('folder/b.pem'), `${broken}\n${second}\n`);
writeFileSync(at('folder/c.pem'), first);
writeFileSync(at('broken.pem'), broken);
const usual = [at('debian.pem'), at('red-hat.pem'), at('suse.pem')];

it('is the first file of the places where systems keep it', () => {
  expect(findCertificateBundle({}, usual)).toEqual({
    text: `${at('red-hat.pem')} (1 certificates)`,
    pem: `${first}\n`,
  });
});

it.each([
  [{ SSL_CERT_FILE: at('suse.pem') }, [second]],
  [{ NIX_SSL_CERT_FILE: at('suse.pem') }, [second]],
  [{ SSL_CERT_FILE: at('suse.pem'), NIX_SSL_CERT_FILE: at('red-hat.pem') }, [second]],
  [{ SSL_CERT_DIR: at('folder') }, [first, second]],
  [{ SSL_CERT_DIR: `${at('nowhere')}:${at('folder')}`, SSL_CERT_FILE: at('suse.pem') }, [second, first]],
])('is what %j names, each certificate once, without what cannot be read', (environment, expected) => {
  expect(findCertificateBundle(environment, usual).pem).toBe(`${expected.join('\n')}\n`);
});

it.each([{ SSL_CERT_FILE: at('nowhere.pem') }, { SSL_CERT_FILE: at('broken.pem') }, { SSL_CERT_DIR: at('nowhere') }])(
  'is none if %j holds none, and never another one instead',
  (environment) => {
    const found = findCertificateBundle(environment, usual);
    expect(found.pem).toBeNull();
    expect(bundleNotice(found)).toContain(`No certificate found in ${Object.values(environment)[0]}`);
  },
);

it('is told and taken away where there is none', () => {
  const socket = at('envoy-admin.sock');
  const folder = at('envoy-admin-folder');
  expect(envoyFolder(socket)).toBe(folder);
  installCertificateBundle(findCertificateBundle({}, usual), socket);
  const sdsFile = join(folder, systemAuthorities.sdsFile);
  const [secret] = JSON.parse(readFileSync(sdsFile, 'utf8')).resources;
  expect(secret.validation_context.watched_directory.path).toBe(folder);
  expect(readFileSync(secret.validation_context.trusted_ca.filename, 'utf8')).toBe(`${first}\n`);
  const none = findCertificateBundle({}, []);
  expect(bundleNotice(none)).toContain(
    'HTTPS providers without their own ca are unavailable: No certificate bundle found.',
  );
  installCertificateBundle(none, socket);
  expect(() => readFileSync(sdsFile)).toThrow('ENOENT');
});

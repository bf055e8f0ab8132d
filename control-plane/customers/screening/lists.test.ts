import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { ListFormat } from './config.ts';
import { CsvRecords } from './csv.ts';
import { ListError } from './list-stream.ts';
import { screenNames } from './screen-names.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwlists-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let directories = 0;
type Files = Readonly<Record<string, string | Buffer>>;

function put(files: Files): string {
  const own = mkdtempSync(join(dir, `${directories++}-`));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(own, name), content);
  return own;
}

const screen = (files: Files, file: string, format: ListFormat, name: string, leastEntries = 1, leastNames = 1) =>
  screenNames([{ role: 'organisation', name }], {
    lists: [{ path: join(put(files), file), format, leastEntries, leastNames }],
    synthetic: false,
    threshold: 0.85,
  });

const ofacCsv = {
  'sdn.csv':
    '36,"BOREALIS AIR, S.A.",-0- ,"TEST",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"Nowhere; said ""so""."\r\n' +
    '173,"PETRUNOV, Igor Sergeyevich","individual","TEST",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n\u001a',
  'alt.csv': '36,12,"aka","AURORA FREIGHT",-0- \r\n173,13,"fka","ŻARNOWSKI, Ígor",-0- \r\n\u001a',
  'add.csv': '36,25,-0- ,"Nowhere","Ruritania",-0- \r\n173,26,-0- ,-0- ,-0- ,-0- \r\n\u001a',
};
const ofacXml = {
  'sdn.xml': `<?xml version="1.0" standalone="yes"?>
<sdnList xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://tempuri.org/sdnList.xsd">
  <publshInformation><Publish_Date>08/20/2026</Publish_Date><Record_Count>2</Record_Count></publshInformation>
  <sdnEntry><uid>36</uid><lastName>BOREALIS AIR, S.A.</lastName><sdnType>Entity</sdnType>
    <akaList><aka><uid>12</uid><type>a.k.a.</type><category>strong</category><lastName>AURORA FREIGHT</lastName></aka>
      <aka><uid>14</uid><type>a.k.a.</type><category>weak</category><lastName>SHORTY</lastName></aka></akaList></sdnEntry>
  <!-- the second -->
  <sdnEntry><uid>173</uid><firstName>Igor Sergeyevich</firstName><lastName>PETRUNOV</lastName>
    <akaList><aka><uid>13</uid><lastName>&#379;ARNOWSKI</lastName><firstName>Ígor</firstName></aka></akaList></sdnEntry>
</sdnList>
`,
};
const euXml = {
  'eu.xml': `\ufeff<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2026-08-20T16:47:04.449+02:00" globalFileId="1">
  <sanctionEntity designationDetails="" unitedNationId="" euReferenceNumber="EU.1.1" logicalId="36">
    <subjectType code="enterprise" classificationCode="E"/>
    <nameAlias firstName="" middleName="" lastName="" wholeName="Borealis Air &amp; Sea" logicalId="1"/>
    <nameAlias wholeName="Aurora Freight" strong="true" logicalId="2"/>
  </sanctionEntity>
  <sanctionEntity euReferenceNumber="EU.2.1" logicalId="173">
    <nameAlias firstName="Igor" middleName="Sergeyevich" lastName="Petrunov" logicalId="3"/>
    <nameAlias wholeName="Ígor Żarnowski" logicalId="4"/>
  </sanctionEntity>
</export>`,
};
const euCsv = {
  'eu.csv':
    '\ufefffileGenerationDate;Entity_LogicalId;Entity_Remark;NameAlias_LastName;NameAlias_FirstName;NameAlias_MiddleName;NameAlias_WholeName;Address_City\r\n' +
    '20/08/2026;36;a "quoted" remark;;;;Borealis Air;\r\n' +
    '20/08/2026;36;"a; b ""c""";;;;Aurora Freight;\r\n' +
    '20/08/2026;36;;;;;;Nowhere\r\n' +
    '20/08/2026;173;;Petrunov;Igor;Sergeyevich;;\r\n' +
    '20/08/2026;173;;;;;Ígor Żarnowski;\r\n',
};
const namesCsv = {
  'names.csv': 'id,name\n36,Borealis Air\n36,Aurora Freight\n173,"Petrunov, Igor"\n173,Ígor Żarnowski\nend,2\n',
};

const all: readonly (readonly [ListFormat, Files, string, string | null])[] = [
  ['ofac-csv', ofacCsv, 'sdn.csv', null],
  ['ofac-xml', ofacXml, 'sdn.xml', '2026-08-20'],
  ['eu-xml', euXml, 'eu.xml', '2026-08-20'],
  ['eu-csv', euCsv, 'eu.csv', '2026-08-20'],
  ['names-csv', namesCsv, 'names.csv', null],
];

test.each(all)(
  '%s: each name and alias is found, with the id of its entry, and the version of the list is told',
  async (...given) => {
    const [format, files, file, date] = given;
    for (const [name, id] of [
      ['Borealis Air', '36'],
      ['Aurora Freight Ltd', '36'],
      ['Igor Petrunov', '173'],
      ['Igor Zarnowski', '173'],
    ] as const) {
      const result = await screen(files, file, format, name);
      expect(result).toMatchObject({
        outcome: 'match',
        match_count: 1,
        matches: [{ entry_id: id, role: 'organisation' }],
      });
      expect(result.matches[0]?.score).toBeGreaterThanOrEqual(0.85);
      expect(result.lists).toMatchObject([{ format, date, entries: 2 }]);
      for (const each of result.lists[0]?.files ?? []) expect(each.sha256).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(await screen(files, file, format, 'Northwind Analytics')).toMatchObject({ outcome: 'clear', matches: [] });
  },
);

test('an alias that the list calls weak is not compared', async () => {
  expect(await screen(ofacXml, 'sdn.xml', 'ofac-xml', 'Shorty')).toMatchObject({ outcome: 'clear' });
});

test('a list in Windows-1252 hides no name', async () => {
  const latin = { 'names.csv': Buffer.from('id,name\n1,Jürgen Ärgerlich\nend,1\n', 'latin1') };
  expect(await screen(latin, 'names.csv', 'names-csv', 'Jurgen Argerlich')).toMatchObject({ outcome: 'match' });
});

test.each(all.filter(([format]) => format !== 'eu-csv' && format !== 'ofac-csv'))(
  '%s: a file that is cut anywhere clears nobody',
  async (format, files, file) => {
    const whole = Buffer.from(files[file] ?? '');
    const end = whole.toString('latin1').trimEnd().length;
    for (let length = 0; length < end; length += 7)
      await expect(
        screen({ ...files, [file]: whole.subarray(0, length) }, file, format, 'Northwind Analytics'),
      ).rejects.toThrow(ListError);
  },
);

test.each(all.filter(([format]) => format === 'eu-csv' || format === 'ofac-csv'))(
  '%s: a file that is cut inside of a record clears nobody',
  async (format, files, file) => {
    const whole = Buffer.from(files[file] ?? '');
    for (let length = 0; length < whole.length - 3; length += 3) {
      // Between two records the file looks whole.
      if (/[\r\n]$/.test(whole.toString('latin1', 0, length))) continue;
      await expect(
        screen({ ...files, [file]: whole.subarray(0, length) }, file, format, 'Northwind Analytics', 2),
        `${length} of ${whole.length} bytes`,
      ).rejects.toThrow(ListError);
    }
  },
);

test.each(all)('%s: a list with fewer entries than it must have clears nobody', async (format, files, file) => {
  await expect(screen(files, file, format, 'Northwind Analytics', 3)).rejects.toThrow(/fewer than the 3/);
});

test.each([
  ['is missing', 'sdn.csv', 'ofac-csv', { 'alt.csv': '', 'add.csv': '' }, /sdn\.csv cannot be read \(ENOENT\)/],
  ['has no aliases beside it', 'sdn.csv', 'ofac-csv', { 'sdn.csv': ofacCsv['sdn.csv'] }, /alt\.csv cannot be read/],
  ['has aliases of other entries', 'sdn.csv', 'ofac-csv', { ...ofacCsv, 'alt.csv': '9,1,"aka","X",-0- \r\n' }, /9/],
  ['states another number', 'sdn.xml', 'ofac-xml', { 'sdn.xml': ofacXml['sdn.xml'].replace('>2<', '>3<') }, /states 3/],
  [
    'has an entry without a name',
    'eu.xml',
    'eu-xml',
    { 'eu.xml': euXml['eu.xml'].replaceAll('nameAlias', 'other') },
    /name/,
  ],
  ['defines entities', 'sdn.xml', 'ofac-xml', { 'sdn.xml': ofacXml['sdn.xml'].replace('BOREALIS', '&lol;') }, /entity/],
  ['has empty aliases', 'sdn.csv', 'ofac-csv', { ...ofacCsv, 'alt.csv': '' }, /alt\.csv has no record/],
  [
    'has aliases without a record',
    'sdn.csv',
    'ofac-csv',
    { ...ofacCsv, 'alt.csv': '\u001a' },
    /alt\.csv has no record/,
  ],
  ['has empty addresses', 'sdn.csv', 'ofac-csv', { ...ofacCsv, 'add.csv': '' }, /add\.csv has no record/],
  [
    'has a stray quote that would swallow records',
    'eu.csv',
    'eu-csv',
    { 'eu.csv': euCsv['eu.csv'].replace(';;;;Borealis Air;', ';"Air;;;Borealis;').replace('Nowhere', '"Nowhere') },
    /line break inside of quotes/,
  ],
  [
    'has letters behind a closing quote',
    'names.csv',
    'names-csv',
    { 'names.csv': 'id,name\n1,"Borealis" Air\nend,1\n' },
    /behind a closing quote/,
  ],
  [
    'has names that ran together',
    'names.csv',
    'names-csv',
    { 'names.csv': `id,name\n1,${'Borealis Air '.repeat(80)}\nend,1\n` },
    /too long/,
  ],
  ['is of another form', 'eu.csv', 'eu-csv', { 'eu.csv': 'a;b\r\n1;2\r\n' }, /has no column/],
  ['is a web page', 'eu.xml', 'eu-xml', { 'eu.xml': '<html><body>Not found</body></html>' }, /not whole/],
  ['is empty', 'names.csv', 'names-csv', { 'names.csv': '' }, /not whole/],
] as const)('a list that %s clears nobody', async (_, file, format, files, reason) => {
  await expect(screen(files, file, format, 'Northwind Analytics')).rejects.toThrow(ListError);
  await expect(screen(files, file, format, 'Northwind Analytics')).rejects.toThrow(reason);
});

test('without a list nobody is cleared', async () => {
  const none = { lists: [], synthetic: false, threshold: 0.85 };
  await expect(screenNames([{ role: 'organisation', name: 'Northwind' }], none)).rejects.toThrow(ListError);
});

test('a list whose aliases are cut clears nobody: it has fewer names than it must have', async () => {
  const cut = { ...ofacCsv, 'alt.csv': ofacCsv['alt.csv'].slice(0, ofacCsv['alt.csv'].indexOf('173')) };
  await expect(screen(cut, 'sdn.csv', 'ofac-csv', 'Northwind Analytics', 2, 4)).rejects.toThrow(
    /3 names, fewer than the 4/,
  );
  const whole = await screen(ofacCsv, 'sdn.csv', 'ofac-csv', 'Northwind Analytics', 2, 4);
  expect(whole).toMatchObject({
    outcome: 'clear',
    lists: [{ files: [{ names: 2 }, { name: 'alt.csv', names: 2 }, { name: 'add.csv', names: 0 }] }],
  });
});

test('names of a list that cannot be compared are counted', async () => {
  const list = { 'names.csv': 'id,name\n1,Borealis Air\n1,北极光\n2,Игорь\nend,2\n' };
  expect(await screen(list, 'names.csv', 'names-csv', 'Northwind')).toMatchObject({
    outcome: 'clear',
    lists: [{ not_comparable_names: 1, files: [{ names: 3 }] }],
  });
});

test.each([
  ['Cyrillic letters that look Latin', 'Мах Соорег', 'Max Cooper'],
  ['one letter in a Latin name of the list', 'Max Cooper', 'Max Co\u043eper'],
  ['Greek capitals', '\u039d\u0399\u039a\u039f \u039a\u0391\u03a1\u0391\u039a\u0399', 'Niko Karaki'],
  ['capitals that sound otherwise', '\u0420\u0410\u0412\u0415\u041d \u0421\u041e\u041c\u0415\u0422', 'Paben Comet'],
])('a name in %s is found by its look', async (_, asked, listed) => {
  const list = { 'names.csv': `id,name\n1,${listed}\nend,1\n` };
  expect(await screen(list, 'names.csv', 'names-csv', asked)).toMatchObject({ match_count: 1 });
});

test('a word that mixes scripts is left to people, whatever the lists hold', async () => {
  const list = { 'names.csv': 'id,name\n1,Somebody Else\nend,1\n' };
  for (const name of ['Соореr Works', 'Реtrunоv Igоr', 'Ra\u03bd Works'])
    expect(await screen(list, 'names.csv', 'names-csv', name)).toMatchObject({
      outcome: 'match',
      not_comparable: ['organisation'],
    });
  for (const name of ['Игорь Petrunov', 'X5-Ритейл', 'Ёлкин', 'Ångström'])
    expect(await screen(list, 'names.csv', 'names-csv', name), name).toMatchObject({ outcome: 'clear' });
});

test('a name in a script that cannot be compared is left to people', async () => {
  expect(await screen(namesCsv, 'names.csv', 'names-csv', '北极光')).toMatchObject({
    outcome: 'match',
    matches: [],
    not_comparable: ['organisation'],
  });
});

test('the list of invented names is there where it is asked for', async () => {
  const synthetic = { lists: [], synthetic: true, threshold: 0.85 };
  const found = await screenNames([{ role: 'billing_contact', name: 'Igor Petrunow' }], synthetic);
  expect(found).toMatchObject({ outcome: 'match', matches: [{ list: 'synthetic', entry_id: 'synthetic-3' }] });
});

test('records of a CSV file come back as they were written, wherever it is cut into pieces', () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'é', ',', '"', ';', ' b '), maxLength: 6 });
  const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(rows, fc.array(fc.nat(200), { maxLength: 5 }), (given, cuts) => {
      const text = given.map((row) => `${row.map((each) => `"${each.replaceAll('"', '""')}"`).join(',')}\r\n`).join('');
      const bytes = Buffer.from(text).toString('latin1');
      const read: (readonly string[])[] = [];
      const records = new CsvRecords(',', (fields) => void read.push(fields));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      places.slice(1).forEach((end, i) => {
        records.push(bytes.slice(places[i], end));
      });
      records.end();
      expect(read).toEqual(given.map((row) => row.map((each) => each.trim())));
    }),
  );
});

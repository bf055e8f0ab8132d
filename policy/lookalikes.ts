/**
 * Letters that look like Latin ones.
 *
 * Invariant: only the shape counts, so capital and small letters differ: Cyrillic `Н` looks like H, and Greek `ν` like v although `Ν`
 * looks like N. All values are ASCII.
 */

/** Letters, and at the same position the Latin letter that each looks like. */
const rows: readonly (readonly [script: string, letters: string, latin: string])[] = [
  ['Cyrillic capitals', 'АВЕКМНОРСТУХЅІЈԀԚԜӀҮҺԌӨѲ', 'ABEKMHOPCTYXSIJDQWIYHGOO'],
  ['Cyrillic small', 'авекмнорстухѕіјԁԛԝӏүһԍөѳьгпѵѡҽꙇћ', 'abekmhopctyxsijdqwlyhgoobrnvweih'],
  ['Greek capitals', 'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿϜ', 'ABEZHIKMNOPTYXCJF'],
  ['Greek small', 'αβγεηικνορτυχωϲϳσ', 'abyenikvoptuxwcjo'],
  ['Armenian', 'ՕՍՏօսհոցզքգաԼ', 'OUSouhngqfqwL'],
  ['Cherokee', 'ᎪᏴᏟᎠᎬᏀᎻᎢᎫᏦᏞᎷᏢᎡᏚᏙᎳᎽᏃᎥᏂᎩᏔᏒᎾ', 'ABCDEGHTJKLMPRSVWYZiHYWRO'],
  ['Coptic capitals', 'ⲤⲎⲔⲒⲘⲚⲞⲢⲦⲬⲨ', 'CHKIMNOPTXY'],
  ['Coptic small', 'ⲥⲟⲣⲅ', 'copr'],
  ['Lisu', 'ꓮꓐꓚꓓꓰꓝꓖꓧꓙꓗꓲꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ', 'ABCDEFGHJKILMNOPRSTUVWXYZ'],
  ['Canadian syllabics', 'ᗅᗷᗞᖴᕼᒍᒪᗰᑭᖇᑌᐯ', 'ABDFHJLMPRUV'],
  ['small capitals', 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnoprstuvwyz'],
  [
    'Latin with a stroke, hook or tail',
    'ƀɓƃɗɖđðɇɛƒɡɠǥħɦıɨɩɉƙłƚɫɭɲɳƞŋøɵɔƥɋɍɽɾʂŧƭʈʉʋʌɯⱳɏƴƶȥ',
    'bbbddddeefggghhiiijkllllnnnnooopqrrrstttuuvwwyyzz',
  ],
  ['their capitals', 'ɃƁĐÐƊƐƑƓǤĦƗƘŁȽƝŊØƟƆƤɌŦƬƮɄƲƳɎƵȤ', 'BBDDDEFGGHIKLLNNOOOPRTTTUVYYZZ'],
  ['turned and open', 'ɑɐǝəɘʇʍʎ', 'aaeeetwy'],
];

const ligatures: readonly (readonly [string, string])[] = [
  ['æ', 'ae'],
  ['Æ', 'AE'],
  ['œ', 'oe'],
  ['Œ', 'OE'],
  ['ß', 'ss'],
  ['ẞ', 'SS'],
  ['þ', 'th'],
  ['Þ', 'TH'],
  ['ӕ', 'ae'],
  ['Ӕ', 'AE'],
];

function paired([script, letters, latin]: readonly [string, string, string]): readonly (readonly [string, string])[] {
  const keys = [...letters];
  if (keys.length !== latin.length) throw new Error(`The row of look-alikes "${script}" is not in pairs.`);
  return keys.map((letter, at) => [letter, latin.charAt(at)]);
}

export const latinShapes: ReadonlyMap<string, string> = new Map([...rows.flatMap(paired), ...ligatures]);

/**
 * The default rules: explicit requests for help with a few grave crimes. Merely mentioning a subject does not match, so history, news,
 * medicine, teaching and defence pass.
 *
 * Invariant: the rules are few and simple, so that an operator can read and replace them. They rather miss a request than refuse a
 * harmless one: the object of a request must end the sentence or be followed by a word that does not change its meaning, so a bomb
 * shelter does not match.
 */
import { type Policy, type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';

/** Combines each of `heads` with each of `tails`. */
const each = (heads: readonly string[], tails: readonly string[]): string[] =>
  heads.flatMap((head) => tails.map((tail) => `${head} ${tail}`));

const asks = [
  ...['how to', 'how do i', 'how do you', 'how can i', 'how can you', 'how would i'],
  ...['help me', 'teach me to', 'i want to'],
];
const guides = ['instructions for', 'instructions on', 'guide to'];

/** `making` follows `guides`, `make` follows `asks`. */
const asked = (make: readonly string[], making: readonly string[], what: readonly string[]): string[] => [
  ...each(asks, each(make, what)),
  ...each(guides, each(making, what)),
];

/** Words that may follow the name of a substance or weapon without changing its meaning. */
const details = ['at', 'from', 'out', 'using', 'with', 'without', 'and', 'please', 'step', 'quickly', 'myself'];

const rule = { action: 'block', enabled: true } as const;

const phrases = (
  id: string,
  title: string,
  screen: PolicyRule['screen'],
  list: readonly string[],
  before: readonly string[],
): PolicyRule => ({ id, title, screen, ...rule, kind: 'phrases', phrases: [...list], before: [...before] });

const dualUse: readonly PolicyRule[] = [
  phrases(
    'chemical-weapons',
    'Making of chemical weapons',
    'dual_use',
    [
      ...asked(
        ['make', 'synthesize', 'produce'],
        ['making', 'synthesizing', 'manufacturing'],
        [
          ...['sarin', 'some sarin', 'tabun', 'novichok'],
          ...['nerve gas', 'a nerve agent', 'mustard gas', 'a chemical weapon', 'chemical weapons'],
        ],
      ),
      ...each(['synthesis route for', 'weaponize', 'weaponise'], ['sarin', 'novichok', 'mustard gas', 'chlorine gas']),
    ],
    details,
  ),
  phrases(
    'biological-weapons',
    'Making of biological weapons',
    'dual_use',
    [
      ...asked(
        ['make', 'build'],
        ['making', 'building'],
        ['a bioweapon', 'a biological weapon', 'anthrax spores', 'ricin', 'some ricin', 'weaponized anthrax'],
      ),
      ...asked(
        ['weaponize', 'aerosolize'],
        ['weaponizing', 'aerosolizing'],
        ['anthrax', 'smallpox', 'a virus', 'ricin'],
      ),
      ...each(asks, ['extract ricin', 'purify ricin']),
    ],
    details,
  ),
  phrases(
    'nuclear-weapons',
    'Making of nuclear and radiological weapons',
    'dual_use',
    [
      ...asked(
        ['make', 'build'],
        ['making', 'building'],
        ['a nuclear bomb', 'a nuclear weapon', 'an atomic bomb', 'an atom bomb', 'a dirty bomb'],
      ),
      ...each(asks, ['enrich uranium to weapons grade', 'enrich uranium for a bomb', 'smuggle enriched uranium']),
    ],
    ['at', 'from', 'without', 'please', 'myself'],
  ),
  phrases(
    'export-evasion',
    'Getting round export controls for weapons',
    'dual_use',
    each(asks, [
      'evade export controls',
      'bypass export controls',
      'get around export controls',
      'hide the end user from customs',
      'falsify an end user certificate',
      'ship centrifuges to a sanctioned country',
    ]),
    ['on', 'for', 'and', 'when', 'without', 'by', 'please'],
  ),
];

const children = ['a child', 'children', 'a minor', 'minors', 'a little girl', 'little girls'];

const acceptableUse: readonly PolicyRule[] = [
  phrases(
    'explosive-devices',
    'Making of explosive devices',
    'acceptable_use',
    [
      ...asked(
        ['make', 'build'],
        ['making', 'building'],
        [
          ...['a pipe bomb', 'pipe bombs', 'a small pipe bomb', 'a homemade pipe bomb', 'a nail bomb', 'a car bomb'],
          ...['a pressure cooker bomb', 'a letter bomb', 'a suicide vest', 'an improvised explosive device', 'tatp'],
        ],
      ),
      ...each(asks, ['synthesize tatp', 'make nitroglycerin at home']),
    ],
    details,
  ),
  phrases(
    'bombs',
    'Making of a bomb, in so many words',
    'acceptable_use',
    asked(
      ['make', 'build'],
      ['making', 'building'],
      ['a bomb', 'bombs', 'a real bomb', 'a homemade bomb', 'a small bomb', 'a bomb at home', 'my own bomb'],
    ),
    ['please', 'without'],
  ),
  phrases(
    'mass-violence',
    'Planning of attacks on people',
    'acceptable_use',
    [
      ...each(each(asks, ['plan', 'carry out', 'commit']), [
        'a mass shooting',
        'a school shooting',
        'a terrorist attack',
        'a terror attack',
        'a massacre',
      ]),
      ...each(asks, [
        'poison the water supply',
        'poison the water supply of a town',
        'kill as many people as possible',
        'blow up a school',
      ]),
    ],
    ['without', 'please'],
  ),
  phrases(
    'child-sexual-abuse',
    'Sexual material with children',
    'acceptable_use',
    [
      ...each(
        ['find me', 'send me', 'sell me', 'show me', 'where can i find', 'how to find', 'how can i find'],
        ['child porn', 'free child porn', 'child porn videos', 'kiddie porn'],
      ),
      ...each(asks, ['download child porn', 'get child porn']),
      ...each(
        each(['write', 'write me'], ['a sexual story', 'an explicit sexual story', 'an erotic story']),
        each(['about', 'with'], [...children, 'a 10 year old', 'a 12 year old', 'a 14 year old']),
      ),
      ...each(
        each(['generate', 'create', 'draw'], ['nude images of', 'nude pictures of', 'naked pictures of']),
        children,
      ),
    ],
    ['girl', 'boy', 'who', 'on', 'online', 'without', 'and', 'please'],
  ),
  phrases(
    'child-grooming',
    'Grooming of children',
    'acceptable_use',
    each(asks, [
      ...each(['groom', 'seduce', 'lure'], ['a child', 'a minor', 'children', 'minors', 'a teenage girl']),
      'groom a child for sex',
    ]),
    ['online', 'on', 'without', 'into', 'and', 'please'],
  ),
  phrases(
    'malware',
    'Writing of malicious software',
    'acceptable_use',
    [
      ...each(
        ['write me', 'create me', 'build me', 'code me', 'help me write', 'help me create'],
        [
          ...['ransomware', 'a ransomware', 'malware', 'a keylogger', 'a rootkit', 'a botnet', 'an infostealer'],
          ...['an undetectable keylogger', 'a fully undetectable keylogger', 'undetectable malware', 'a token grabber'],
          ...['a keylogger in python', 'a fully undetectable keylogger in python', 'ransomware in python'],
        ],
      ),
      ...each(
        ['write', 'create'],
        each(
          ['ransomware', 'a ransomware', 'malware', 'a keylogger', 'a trojan', 'a computer worm'],
          [
            ...['that encrypts every drive', 'that encrypts all files', 'that encrypts files', 'that steals passwords'],
            ...['to steal passwords', 'to extort people', 'to infect computers', 'without being detected', 'in python'],
          ],
        ),
      ),
      ...each(asks, ['write ransomware', 'create ransomware', 'deploy ransomware']),
    ],
    ['please', 'without'],
  ),
  phrases(
    'credential-theft',
    'Theft of credentials and accounts',
    'acceptable_use',
    [
      ...each(asks, [
        'steal passwords',
        'steal credentials',
        'steal credit card numbers',
        'steal session cookies',
        'steal someones identity',
        'hack into someones account',
        'hack my ex',
        'hack into my girlfriends phone',
        'hack into my boyfriends phone',
        ...each(['make', 'create', 'build'], ['a phishing page', 'a phishing kit', 'a phishing page for a bank']),
      ]),
      'write a phishing email to steal passwords',
      'write a phishing email to steal credentials',
    ],
    ['from', 'of', 'without', 'and', 'please'],
  ),
];

export const defaultRules: readonly PolicyRule[] = [...dualUse, ...acceptableUse];

/** In force until another set is published. */
export const defaultPolicy: Policy = {
  version: 0,
  sha256: rulesSha256(defaultRules),
  rules: [...defaultRules],
  exemptions: {},
};

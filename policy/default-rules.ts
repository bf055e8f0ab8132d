/**
 * The rules that a gateway starts with: requests for help with a few grave wrongs, worded as such. To speak of a subject
 * is no such request, so history, news, medicine, teaching and defence pass.
 *
 * Invariant: they are few and plain, so that an operator can read them and put better ones in their place.
 */
import { type Policy, type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';

/** Each of `heads` before each of `tails`. */
const each = (heads: readonly string[], tails: readonly string[]): string[] =>
  heads.flatMap((head) => tails.map((tail) => `${head} ${tail}`));

const asks = ['how to', 'how do i', 'how can i', 'help me'];
const making = each(asks, ['make', 'build']);

/** Wordings that patterns share. Words of a pattern stand in small letters, one space apart. */
const ask =
  '(?:how (?:to|do (?:i|we|you)|c(?:an|ould) (?:i|we|you|one)|would (?:i|you|one)|does one)|(?:instructions?|steps|recipe|guide|tutorial|protocol|procedure|blueprint|plan|route) (?:to|for|on|of)|help (?:me|us)(?: to)?|(?:teach|show|tell) me to|i (?:want|need|intend|plan|would like) to|ways? to)';
const adverb = '(?: (?:secretly|quickly|safely|cheaply|easily|actually|best|myself))?';
const article =
  '(?: (?:a|an|the|some|my|our|own|your|small|large|crude|simple|homemade|improvised|working|pure|lethal|deadly))*';

const phrases = (
  id: string,
  title: string,
  screen: PolicyRule['screen'],
  list: readonly string[],
  unless: readonly string[] = [],
): PolicyRule => ({
  id,
  title,
  screen,
  action: 'block',
  enabled: true,
  kind: 'phrases',
  phrases: [...list],
  ...(unless.length > 0 ? { unless: [...unless] } : {}),
});

const pattern = (
  id: string,
  title: string,
  screen: PolicyRule['screen'],
  needs: readonly string[],
  text: string,
): PolicyRule => ({
  id,
  title,
  screen,
  action: 'block',
  enabled: true,
  kind: 'pattern',
  pattern: text,
  needs: [...needs],
});

const detection = ['detectors', 'detector', 'detection', 'sensor', 'sensors', 'antidote', 'victims', 'harmless'];

const dualUse: readonly PolicyRule[] = [
  phrases(
    'chemical-weapons',
    'Making of chemical weapons',
    'dual_use',
    [
      ...each(
        [
          'how to make',
          'how do i make',
          'how can i make',
          'how do you make',
          'how would i make',
          'help me make',
          'how to synthesize',
          'how do i synthesize',
          'synthesis route for',
        ],
        ['sarin', 'novichok', 'nerve gas', 'a nerve agent', 'mustard gas', 'a chemical weapon', 'chemical weapons'],
      ),
      'weaponize sarin',
      'weaponize chlorine gas',
      'disperse sarin in',
      'precursors for sarin without',
    ],
    each(['sarin', 'nerve gas', 'nerve agent', 'mustard gas', 'chemical weapon', 'chemical weapons'], detection),
  ),
  pattern(
    'chemical-weapons-wording',
    'Making of chemical weapons, in other words',
    'dual_use',
    ['sarin', 'soman', 'tabun', 'novichok', 'lewisite', 'vx nerve', 'vx gas', 'nerve agent', 'mustard gas'],
    `\\b${ask}${adverb} (?:making|synthesi[sz](?:e|ing)|produc(?:e|ing)|manufactur(?:e|ing)|weaponi[sz](?:e|ing)|brew(?:ing)?)${article} (?:sarin|soman|tabun|novichok|lewisite|vx nerve|vx gas|nerve agents? (?:at|from|in|with|using|for)|mustard gas (?:at|from|in|with|using|for))\\b`,
  ),
  phrases(
    'biological-weapons',
    'Making of biological weapons',
    'dual_use',
    [
      ...each(asks, [
        'make a bioweapon',
        'make a biological weapon',
        'build a biological weapon',
        'weaponize anthrax',
        'weaponise anthrax',
        'aerosolize anthrax',
        'weaponize smallpox',
        'weaponize a virus',
        'make a virus more transmissible in humans',
        'make anthrax spores',
        'extract ricin',
        'purify ricin',
        'make ricin',
      ]),
      'engineer a pandemic pathogen',
      'culture anthrax for release',
    ],
    ['make ricin vaccine', 'make ricin antidote'],
  ),
  pattern(
    'biological-weapons-wording',
    'Making of biological weapons, in other words',
    'dual_use',
    ['bioweapon', 'biological weapon', 'anthrax', 'smallpox', 'plague', 'ebola'],
    `\\b${ask}${adverb} (?:mak(?:e|ing)|grow(?:ing)?|cultur(?:e|ing)|produc(?:e|ing)|enhanc(?:e|ing)|engineer(?:ing)?|weaponi[sz](?:e|ing)|aerosoli[sz](?:e|ing)|spread(?:ing)?|releas(?:e|ing))${article} (?:bioweapons?|biological weapons?|weaponi[sz]ed (?:anthrax|smallpox|plague|ebola)|(?:anthrax|smallpox|plague|ebola)(?: [a-z]+){0,2} (?:in a crowd|in the subway|on a city|among people|as a weapon|in public))\\b`,
  ),
  phrases('nuclear-weapons', 'Making of nuclear and radiological weapons', 'dual_use', [
    ...each(making, ['a nuclear bomb', 'a nuclear weapon', 'an atomic bomb', 'a dirty bomb', 'an implosion device']),
    ...each(asks, [
      'enrich uranium to weapons grade',
      'enrich uranium for a bomb',
      'smuggle enriched uranium',
      'smuggle plutonium',
      'get plutonium for a bomb',
    ]),
  ]),
  phrases('export-evasion', 'Getting round export controls for weapons', 'dual_use', [
    ...each(asks, [
      'evade export controls',
      'bypass export controls',
      'get around export controls',
      'hide the end user from customs',
      'falsify an end user certificate',
      'ship centrifuges to a sanctioned country',
    ]),
  ]),
];

const acceptableUse: readonly PolicyRule[] = [
  phrases(
    'explosive-devices',
    'Making of bombs',
    'acceptable_use',
    [
      ...each(making, [
        'a bomb',
        'bombs',
        'a pipe bomb',
        'a nail bomb',
        'a car bomb',
        'a suicide vest',
        'a pressure cooker bomb',
        'an ied',
        'an improvised explosive device',
        'a letter bomb',
      ]),
      ...each(asks, [
        'make tatp',
        'synthesize tatp',
        'make nitroglycerin at home',
        'blow up a school',
        'bomb a building',
      ]),
    ],
    each(
      ['bomb', 'bombs'],
      [
        'shelter',
        'shelters',
        'cyclone',
        'cake',
        'calorimeter',
        'disposal',
        'detector',
        'squad',
        'prop',
        'in minecraft',
        'in unity',
      ],
    ),
  ),
  phrases('mass-violence', 'Planning of attacks on people', 'acceptable_use', [
    ...each(
      [
        'help me plan',
        'how to plan',
        'how do i plan',
        'how to carry out',
        'how do i carry out',
        'i want to carry out',
        'i am planning',
      ],
      [
        'a mass shooting',
        'a school shooting',
        'a terrorist attack',
        'a terror attack',
        'a massacre',
        'an assassination',
      ],
    ),
    ...each(asks, ['poison the water supply', 'poison a water supply', 'kill as many people as possible']),
  ]),
  pattern(
    'child-sexual-abuse',
    'Sexual material with children',
    'acceptable_use',
    ['porn', 'sex', 'erotic', 'nude', 'naked'],
    '\\b(?:writ(?:e|ing)|generat(?:e|ing)|creat(?:e|ing)|mak(?:e|ing)|draw(?:ing)?|describ(?:e|ing)|send|give|show|find|get|download(?:ing)?|sell(?:ing)?|trad(?:e|ing))(?: (?:me|us|a|an|some|the|more|explicit|erotic|free|new))* (?:child porn(?:ography)?|kiddie porn|child sexual abuse material (?:of|with|for me|featuring|involving)|(?:sex|sexual|erotic|pornographic|nude|naked|sexually explicit)(?: (?:stor(?:y|ies)|scenes?|images?|pictures?|photos?|videos?|content|material|roleplay|fantasy|drawings?))? (?:of|about|with|between|involving|featuring)(?: (?:a|an|two|the|some|my))* (?:child|children|minors?|toddlers?|infants?|preteens?|kids?|(?:little|underage|preteen) (?:girls?|boys?)|(?:[1-9]|1[0-7]|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen) (?:year old|yo)))\\b',
  ),
  phrases('child-grooming', 'Grooming of children', 'acceptable_use', [
    ...each(asks, [
      'groom a child',
      'groom a minor',
      'groom a teenage girl',
      'seduce a child',
      'seduce a minor',
      'lure a child',
      'get child porn',
      'find child porn',
      'download child porn',
    ]),
  ]),
  pattern(
    'malware',
    'Writing of malicious software',
    'acceptable_use',
    [
      'ransomware',
      'malware',
      'keylogger',
      'botnet',
      'rootkit',
      'spyware',
      'infostealer',
      'credential stealer',
      'password stealer',
      'token grabber',
      'computer worm',
      'computer virus',
      'trojan',
    ],
    '\\b(?:write|writing|code|create|creating|build|develop|program|make|give|generate)(?: (?:me|us|a|an|some|the|my|own|simple|working|undetectable|undetected|fud|new|python|powershell|fully|functional|piece|of))* (?:ransomware|malware|keylogger|key logger|botnet|rootkit|spyware|infostealer|credential stealer|password stealer|token grabber|computer worm|computer virus|trojan(?: horse)?) (?:that|which|to (?:steal|infect|encrypt|spread|hack|spy|attack|extort|send|target)|for (?:windows|android|mac|linux|stealing|attacking|hacking|my)|in (?:python|c|rust|go|powershell|javascript|java|bash|assembly)|targeting|capable|undetected|undetectable|without being)\\b',
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
        'hack someones account',
        'hack my ex',
        'hack into my girlfriends phone',
        'hack into my boyfriends phone',
        'make a phishing page',
        'make a phishing kit',
        'create a phishing page',
        'create a phishing kit',
        'build a phishing kit',
        'write ransomware',
        'make ransomware',
        'create ransomware',
        'deploy ransomware',
      ]),
      'write a phishing email that tricks',
      'write a phishing email to steal',
      'a fake bank login page that',
      'a phishing page that captures',
    ],
    ['write ransomware response', 'write ransomware playbooks', 'make ransomware recovery', 'steal passwords is'],
  ),
];

export const defaultRules: readonly PolicyRule[] = [...dualUse, ...acceptableUse];

/** In force where no other set was ever published. */
export const defaultPolicy: Policy = {
  version: 0,
  sha256: rulesSha256(defaultRules),
  rules: [...defaultRules],
  exemptions: {},
};

/** What is hidden, or looks like something else, is spelled out; what people write is left as it is. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from './random.ts';
import { judgedLine, judgedName, judgedText, LATIN_SHAPES, visibleText } from './visible-text.ts';

const point = (sign: string): string => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

describe('in a command', () => {
  it.each([
    ['a blank of Braille', '\u2800'],
    ['a blank of music', '\u{1d159}'],
    ['a private sign', '\ue000'],
    ['a private sign beyond', '\u{f0000}'],
    ['one that is not assigned', '\u0378'],
    ['half a sign', '\ud800'],
    ['an object that is not there', '\ufffc'],
    ['a space of another width', '\u2003'],
  ])('%s is named in its place', (_name, sign) => expect(visibleText(`cp a${sign}b`)).toBe(`cp a${point(sign)}b`));

  it.each([
    ['B of Lisu', 'cp \ua4d0in/sh x', '\ua4d0'],
    ['the g of phonetics', 'g\u0261it', '\u0261'],
    ['the a of phonetics', 'c\u0251t x', '\u0251'],
    ['a small capital', 'b\u1d00sh', '\u1d00'],
    ['a click', 'echo x\u01c3', '\u01c3'],
    ['the question mark of Greek', 'x\u037e y', '\u037e'],
    ['a stroke of division', 'rm -r \u2215tmp', '\u2215'],
    ['a stroke of fractions', 'bin\u2044sh', '\u2044'],
    ['a large stroke', 'bin\u29f8sh', '\u29f8'],
    ['a ratio', 'https\u2236//a', '\u2236'],
    ['a raised colon', 'host\ua789path', '\ua789'],
    ['a syllable of Japanese for a stroke', 'bin\u30cesh', '\u30ce'],
    ['an old letter', 'ec\u{10412}o', '\u{10412}'],
    ['an alpha of mathematics', 'c\u{1d6c2}t x', '\u{1d6c2}'],
    ['a ring of Telugu', 'g\u0c02ogle', '\u0c02'],
    ['a round letter of Burmese', 'n\u101dde x', '\u101d'],
    ['the sign for what is estimated', 'm\u212eake', '\u212e'],
    ['a word in old letters', 'bin/\u{10412}', '\u{10412}'],
    ['a letter of Malayalam', 'n\u0d20de x', '\u0d20'],
    ['a digit of Arabic', 'kill a\u06f0', '\u06f0'],
    ['a dash for an option', 'deploy \u2013dry-run', '\u2013'],
    ['a minus for an option', 'deploy -\u2010dry-run', '\u2010'],
    ['a stroke of full width', 'bin\uff0fsh', '\uff0f'],
    ['a stroke of full width in Chinese', '\u6587\u4ef6\uff0fsh', '\uff0f'],
    ['a semicolon of full width', 'ls\uff1b rm x', '\uff1b'],
    ['a ligature', 'con\ufb01g', '\ufb01'],
    ['a Roman number', 'cat \u2160.txt', '\u2160'],
  ])('%s is named beside it', (_name, text, sign) => {
    expect(text).toContain(sign);
    expect(visibleText(text)).toBe(text.replace(sign, `${sign}${point(sign)}`));
  });

  it('a word of another script in the shape of a Latin one is named beside real ones', () => {
    expect(visibleText('bin/\u0455\u04bb')).toBe('bin/\u0455⟨U+0455⟩\u04bb⟨U+04BB⟩');
  });
});

/** What the confusables of Unicode (UTS 39) have for each, of the scripts in which people write. */
const CONFUSABLE = `
  2 Ϩ Ꙅ ᒿ · 3 Ⳍ З Ӡ · 4 Ꮞ · 6 Ⳓ Ꮾ · 9 Ⳋ · A Α А Ꭺ ᗅ ꓮ · B Β В Ᏼ ᗷ ꓐ · C Ⲥ С Ꮯ ꓚ · D Ꭰ ᗞ ᗪ ꓓ · E Ε Е ⴹ Ꭼ ꓰ · F Ϝ ᖴ ꓝ · G Ԍ Ꮐ Ᏻ ꓖ
  H Η Ⲏ Н Ꮋ ᕼ ꓧ · J Ϳ Ј Ꭻ ᒍ ꓙ · K Κ Ⲕ К Ꮶ ꓗ · L Ⳑ Ꮮ ᒪ ꓡ · M Μ Ϻ Ⲙ М Ꮇ ᗰ ꓟ · N Ν Ⲛ ꓠ · O Ο Ⲟ О Օ ⵔ ዐ ଠ ꓳ · P Ρ Ⲣ Р Ꮲ ᑭ ꓑ
  Q ⵕ · R Ꭱ Ꮢ ᖇ ꓣ · S Ѕ Տ Ꮥ Ꮪ ꓢ · T Τ Ⲧ Т Ꭲ ꓔ · U Ս ሀ ᑌ ꓴ · V Ѵ ⴸ Ꮩ ᐯ ꛟ ꓦ · W Ԝ Ꮃ Ꮤ ꓪ · X Χ Ⲭ Х ⵝ ꓫ · Y Υ Ⲩ У Ү Ꭹ Ꮍ ꓬ
  Z Ζ Ꮓ ꓜ · a α а · b Ь Ꮟ ᖯ · c ⲥ с ꮯ · d ԁ Ꮷ ᑯ ꓒ · e е ҽ · f ք · g ց · h һ հ Ꮒ · i ι і ꙇ ӏ ꭵ Ꭵ · j ϳ ј · l Ι Ⲓ І Ӏ ו ן ا ߊ ⵏ ꓲ
  n ո ռ · o ο σ ⲟ о ჿ օ ס ه ھ ہ ە ഠ · p ρ ⲣ р · q ԛ գ զ · r ⲅ ꮁ · s ѕ ꮪ · u υ ս · v ν ѵ ט ꮩ · w ѡ ԝ ա ꮃ · x х ᕁ ᕽ · y γ у ү ყ · z ꮓ
`
  .split(/ · |\n/)
  .map((line) => line.trim().split(' '))
  .filter(([letter]) => letter !== '');

it.each(CONFUSABLE)('whatever is taken for %s is named, among Latin letters and in a name of its own', (_letter, ...others) => {
  for (const one of others) {
    expect(visibleText(`a${one}b`)).toBe(`a${one}${point(one)}b`);
    expect(visibleText(`curl ${one}${one}.com`)).toMatch(/⟨/);
  }
});

it.each([
  ['German', 'Die Größe „x‘ beträgt 5 m² – also −5 °C, 3 × 4, 20 €; Straße/Über-uns'],
  ['French', 'L’été, où ça ? « oui » — naïve œuvre…'],
  ['Spanish', '—¿Qué? —dijo ñandú.'],
  ['Turkish, Polish, Vietnamese', 'adı ışık żółć Nguyễn đường'],
  ['Hausa and Ewe', 'ɓera ɗaki ƙasa ɖe ŋutɔ ɛ'],
  ['Greek', 'Καλημέρα κόσμε, το αρχείο είναι στο src/αρχεία.txt'],
  ['Russian', 'а он с ней у дома; файл src/данные.csv, версия 2'],
  ['short forms of Russian', 'т.е. и т.д., с.х., р. Ока; файлы кот.txt и напр.тоже, д.ом'],
  ['Armenian and Georgian', 'բարեւ աշխարհ, ֆայլ docs/տեքստ.txt; გამარჯობა src/ყური.md'],
  ['Japanese', 'このAPIはWebサイトのデータを一つ、AとBで返す。「コード」・ノート'],
  ['Chinese and Korean', '用API读取一个PDF文件，API를 쓴다（예）：好！'],
  ['Hindi, Thai, Arabic and Hebrew', 'नमस्ते दुनिया ใช้APIได้ مرحبا ١٢٣ שלום'],
  ['emoji', 'done ✅ 🎉 → ok ★ • “quoted” ❤'],
  ['boxes', '├── src │ └── a.ts ─── ▶ ░'],
])('ordinary %s is left as it is', (_name, text) => expect(visibleText(text)).toBe(text));

describe('the name of a host that nothing marks as one', () => {
  const real = (host: string): string => `${host}⟨${new URL(`http://${host}`).hostname}⟩`;

  it.each(['аррӏе.com', 'аррӏе.сом', 'օհ.com', 'ρυν.co'])('is shown as what it really is: %s', (host) => {
    for (const line of ['curl H', 'ssh git@H', 'scp a.txt user@H:/tmp', 'git clone H:team/tool', 'ping "H"', 'x --host=H -v']) {
      const shown = visibleText(line.replace('H', host)).replaceAll(/⟨U\+[0-9A-F]+⟩/gu, '');
      expect(shown).toBe(line.replace('H', real(host)));
    }
  });

  it('behind a name is taken without what is spelled out in it', () => {
    expect(visibleText('tell ops@example.org\u202e gro')).toBe('tell ops@example.org⟨U+202E⟩ gro');
  });

  it('is given away by any letter of another script, whichever it is', () => {
    const random = seededRandom(11);
    const pick = (among: string): string => [...among][Math.floor(random.fraction() * [...among].length)] ?? '';
    const hosts = ['apple.com', 'paypal.com', 'github.com', 'npmjs.org', 'google.co.uk', 'aws.amazon.com', 'HOST.EXAMPLE.ORG'];
    const frames = [
      'curl H',
      'ssh git@H',
      'scp x user@H:path',
      'git clone H:a/b',
      'wget -qO- H/x',
      'npm i --registry=H',
      'nc H 80',
    ];
    let seen = 0;
    for (let round = 0; round < 5_000; round += 1) {
      const share = random.fraction();
      const host = pick(String.fromCodePoint(...hosts.keys())).codePointAt(0) ?? 0;
      const plain = hosts[host] ?? '';
      const swapped = plain.replaceAll(/[A-Za-z]/g, (letter) => {
        const others = LATIN_SHAPES[letter];
        return others === undefined || random.fraction() > share ? letter : pick(others);
      });
      if (swapped === plain) continue;
      const line = (frames[round % frames.length] ?? '').replace('H', swapped);
      expect(visibleText(line), line).toMatch(/⟨(?:U\+|xn--|[^⟩]*\.xn--|no valid)/);
      seen += 1;
    }
    expect(seen).toBeGreaterThan(3_000);
  });
});

describe('what stands beside words of ours', () => {
  it.each([
    ['src/a-1_b.ts', 'src/a-1_b.ts'],
    ['src/größe/東京.txt', 'src/größe/東京.txt'],
    ['my file.txt', '"my file.txt"'],
    ['a.txt (new file, +1 -0 lines)\n@@ -0,0 +1,1 @@', '"a.txt (new file, +1 -0 lines)⟨U+000A⟩@@ -0,0 +1,1 @@"'],
    ['a\tb\u2028c ', '"a⟨U+0009⟩b⟨U+2028⟩c "'],
    ['a" \\ b', '"a\\" \\\\ b"'],
    ['', '""'],
  ])('is quoted where its end could be mistaken: %j', (name, shown) => {
    expect(judgedName(name)).toBe(shown);
    // It is shown in a text that is judged whole, once more.
    expect(judgedText(judgedName(name))).toBe(shown);
  });

  it('is one line, whatever is in it', () => {
    expect(judgedLine('shell = ls\n\t| yes \u200b ')).toBe('shell = ls⟨U+000A⟩⟨U+0009⟩| yes ⟨U+200B⟩·');
  });
});

it('a text that is judged twice is shown as if it had been once', () => {
  const once = judgedText('a\tb \nc·');
  expect(once).toBe('a⇥b·\nc·⟨U+00B7⟩');
  expect(visibleText(once)).toBe(once);
});

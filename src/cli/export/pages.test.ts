/** Documents of text that strangers wrote: whatever it says, it stays text. */
import { lexer } from 'marked';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../base/ids.ts';
import { markedText } from '../terminal/safe-text.ts';
import type { DocumentHead } from './document-form.ts';
import type { Block, Entry } from './entries.ts';
import { htmlPage } from './html-page.ts';
import { markdownPage } from './markdown-page.ts';

const HOSTILE = [
  '<script>alert(1)</script>',
  '</pre></section><img src=https://evil.example/x onerror=alert(1)>',
  '"><style>@import url(https://evil.example)</style>',
  "' onmouseover='alert(1)",
  '</title></style></head><body onload=alert(1)>',
  '&lt;script&gt; &#x3c;b&#x3e;',
  '```\n# not a heading\n![](https://evil.example/x)\n```',
  '`````text\n</details>\n`````',
  '~~~\n<iframe src="https://evil.example"></iframe>\n~~~',
  '\r# a heading behind a carriage return',
  '[text](javascript:alert(1)) | <https://evil.example>',
  'hidden \u202e\u0000\u001b[2J\u200b and half a sign \ud800',
  '',
];

const entryOf = (text: string, block: Block = { label: text, language: 'markdown', text }): Entry => ({
  at: '2026-03-04T09:30:00.000Z',
  run: 'run_one' as RunId,
  agent: text,
  depth: 20,
  title: text,
  blocks: [block],
});
const headOf = (text: string): DocumentHead => ({ title: `Session ${text}`, facts: [`of ${text}`], tree: text, costs: text });

describe('an HTML page', () => {
  const all = HOSTILE.map((text) => htmlPage.head(headOf(text)) + htmlPage.entry(entryOf(text)) + htmlPage.foot);
  const plain = htmlPage.head(headOf('x')) + htmlPage.entry(entryOf('x')) + htmlPage.foot;
  const tagsIn = (html: string): readonly string[] => html.match(/<[^>]*>?/g) ?? [];

  it('has the same tags whatever is in it, and none that does or fetches something', () => {
    expect(tagsIn(plain).length).toBeGreaterThan(20);
    for (const html of all) expect(tagsIn(html)).toEqual(tagsIn(plain));
    expect(plain).not.toMatch(/<(script|img|link|iframe|a|form|object|embed|base)\b|\b(src|href|on\w+|style)=|url\(|@import/i);
    expect(plain).toContain(`content="default-src 'none'; style-src 'sha256-`);
  });

  it('says what was said, and spells out what a screen would obey or hide', () => {
    expect(all.join('')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(all.join('')).toContain('&amp;lt;script&amp;gt;');
    expect(all.join('')).toContain('hidden ⟨U+202E⟩⟨U+0000⟩⟨U+001B⟩[2J⟨U+200B⟩ and half a sign \ufffd');
    expect(all.join('')).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u);
  });

  it('folds long texts up', () => {
    const long = htmlPage.entry(entryOf('x', { language: 'text', text: 'y'.repeat(4_001) }));
    expect(long).toContain('<details><summary>4001 characters</summary><pre>');
    expect(plain).not.toContain('<details>');
  });
});

describe('a Markdown page', () => {
  const kindsIn = (markdown: string): readonly string[] =>
    lexer(markdown)
      .filter(({ type }) => type !== 'space')
      .map(({ type }) => type);

  it.for(HOSTILE)('keeps in its fences %j', (text) => {
    const written = markdownPage.head(headOf(text)) + markdownPage.entry(entryOf(`x${text}`)) + markdownPage.foot;
    const plain = markdownPage.head(headOf('x')) + markdownPage.entry(entryOf('x')) + markdownPage.foot;
    expect(kindsIn(written)).toEqual(kindsIn(plain));
    const code = lexer(written).flatMap((token) => (token.type === 'code' ? [String(token['text'])] : []));
    expect(code).toHaveLength(3);
    expect(code[2]).toBe(markedText(`x${text}`));
    // Outside of fences nothing is markup.
    const inner = JSON.stringify(
      lexer(written).filter(({ type }) => type === 'heading' || type === 'paragraph' || type === 'list'),
    );
    expect(inner).not.toMatch(/"type":"(image|html|codespan|strong|em|del)"/);
  });
});

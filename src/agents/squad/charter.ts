/** What a charter says: the text that becomes a worker's prompt, and the model that it would like. */
import { limits } from '../../base/limits.ts';
import { cutText } from '../text/cut-text.ts';
import { markdownLines, markdownSections, plainWords } from '../text/markdown-sections.ts';
import { bulletOf, wordOf } from './roster.ts';

export interface Charter {
  /** Without surrounding blank lines, with plain line endings, and no longer than a prompt of a stranger may be. */
  readonly text: string;
  readonly cut: boolean;
  readonly role: string | undefined;
  readonly model: string | undefined;
}

export function readCharter(content: string): Charter {
  const whole = plainText(content);
  const text = cutText(whole, limits.charterCharacters).trimEnd();
  return { text, cut: text.length < whole.length, role: roleIn(whole), model: modelIn(whole) };
}

/** As it is compared and shown: files of other machines have other line endings. */
export const plainText = (content: string): string =>
  content
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .trim();

/** `**Role:** …` under Identity, else what stands behind the name in the title. */
function roleIn(text: string): string | undefined {
  const said =
    bulletOf(text, 'role') ??
    markdownSections(text, 1)
      .find(({ level }) => level === 1)
      ?.title.split(/\s+[—–-]\s+/)[1];
  const role = plainWords(said ?? '').slice(0, ROLE_CHARACTERS);
  return role === '' ? undefined : role;
}

const ROLE_CHARACTERS = 1_000;

/** `**Preferred:** …` in the section about the model, or the bare name of one. `auto` leaves it to others. */
function modelIn(text: string): string | undefined {
  const section = markdownSections(text, 6).find(({ level, title }) => level > 1 && /^model\b/i.test(plainWords(title)));
  if (section === undefined) return undefined;
  const bare = markdownLines(section.raw).find(({ text: line }) =>
    /^\s*[-*]?\s*`?[a-z][\w/.]*-[\w./-]*\d[\w./-]*`?\s*$/i.test(line),
  );
  const said =
    bulletOf(section.raw, 'preferred') ?? bulletOf(section.raw, 'model') ?? bare?.text.replace(/^\s*[-*]\s+/, '') ?? '';
  return settledModel(wordOf(said));
}

export const settledModel = (word: string | undefined): string | undefined => (word?.toLowerCase() === 'auto' ? undefined : word);

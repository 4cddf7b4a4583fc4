/**
 * Text from models, tools and files is written by strangers. Before it reaches a terminal, whatever could move the cursor,
 * change the title, hide text or forge lines is taken out or made visible.
 */
import { stripVTControlCharacters } from 'node:util';

/** Controls except newline and tab, and marks that reorder or hide text. The joiners stay: scripts and emoji need them. */
const UNSAFE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Safe to print, newlines kept. */
export function safeText(text: string): string {
  return stripVTControlCharacters(text).replace(/\r\n/g, '\n').replace(UNSAFE, '').replace(/\t/g, '  ');
}

/** Safe to keep in a file: nothing is lost, and what a screen would obey or hide is spelled out. */
export function markedText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(UNSAFE, (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Safe to print within one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim();
}

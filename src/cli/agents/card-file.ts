/** The file of an agent that lives elsewhere, made from its card: a stranger's words, so they are made safe, short and quoted. */
import type { AgentCard } from '@a2a-js/sdk';
import { nameProblem } from '../../agents/definition/agent-name.ts';
import { cutText } from '../../agents/text/cut-text.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { CardLogin } from './card-login.ts';

export interface CardFile {
  readonly name: string;
  readonly card: AgentCard;
  readonly address: string;
  /** How whoever calls shows who they are: by the variable of this name. */
  readonly login?: { readonly variable: string; readonly how: CardLogin } | undefined;
  readonly pin?: string | undefined;
  readonly plain?: boolean | undefined;
}

/** Plain letters only: two names that look alike are then alike. */
export function nameFromCard({ name }: AgentCard, address: URL): string {
  for (const text of [name, address.hostname]) {
    const plain = text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, NAME_CHARACTERS)
      .replaceAll(/^-+|-+$/g, '');
    if (plain === '') continue;
    return plain === 'readme' || nameProblem(plain) !== undefined ? `${plain}-agent` : plain;
  }
  return 'remote-agent';
}

const NAME_CHARACTERS = 60;

export function cardFileText({ name, card, address, login, pin, plain }: CardFile): string {
  const { skills } = card;
  const tags = distinct(
    skills.flatMap((skill) => skill.tags),
    limits.cardTags,
    limits.cardTagCharacters,
  );
  const examples = distinct(
    skills.flatMap((skill) => skill.examples),
    limits.catalogueExamples,
    limits.catalogueExampleCharacters,
  );
  const lines = [
    '---',
    `name: ${quoted(name)}`,
    `description: ${quoted(words(card.description, limits.catalogueCharacters) || words(card.name, limits.catalogueCharacters))}`,
    ...(tags.length === 0 ? [] : ['tags:', ...tags.map((tag) => `  - ${quoted(tag)}`)]),
    ...(examples.length === 0 ? [] : ['examples:', ...examples.map((one) => `  - ${quoted(one)}`)]),
    ...where(address, login, pin, plain === true),
    '---',
  ];
  return `${lines.join('\n')}\n`;
}

function where(address: string, login: CardFile['login'], pin: string | undefined, plain: boolean): readonly string[] {
  if (login === undefined && pin === undefined) return [`a2a: ${quoted(address)}`];
  const value = login === undefined ? undefined : quoted(`\${${login.variable}}`);
  const header = login?.how.kind === 'header' ? login.how.name : undefined;
  const shown = present({ token: header === undefined ? value : undefined, pin: pin === undefined ? undefined : quoted(pin) });
  return [
    'a2a:',
    `  card: ${quoted(address)}`,
    ...Object.entries(shown).map(([key, text]) => `  ${key}: ${text}`),
    ...(plain ? ['  plain: true'] : []),
    ...(header === undefined ? [] : ['  headers:', `    ${quoted(header)}: ${value}`]),
  ];
}

/** One line of a stranger's: nothing hidden in it, not longer than that. */
export function words(text: string, most: number): string {
  const plain = safeLine(text.toWellFormed().normalize('NFC')).replaceAll(/\s+/g, ' ').trim();
  return plain.length <= most ? plain : `${cutText(plain, most - 1).trimEnd()}…`;
}

function distinct(texts: readonly string[], most: number, characters: number): readonly string[] {
  const safe = texts.map((text) => words(text, characters)).filter((text) => text !== '');
  return [...new Set(safe)].slice(0, most);
}

/** JSON is YAML; what its strings may hold raw and those of YAML may not was taken out before. */
const quoted = (text: string): string => JSON.stringify(text);

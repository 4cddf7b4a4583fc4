/** A card for a person to judge: who it is, what it does, where what is said goes. Tricks with letters are spelled out. */
import type { AgentCard } from '@a2a-js/sdk';
import { limits } from '../../base/limits.ts';
import { visibleText } from '../../base/visible-text.ts';
import { counted } from '../../base/wording.ts';
import type { ReadCard } from '../../peers/cards/port.ts';
import type { CommandContext } from '../terminal/command.ts';
import { words } from './card-file.ts';
import { loginOf } from './card-login.ts';

const LINE = 300;
const seen = (text: string): string => words(visibleText(text), LINE);

export function showCard({ terminal: { progress } }: CommandContext, address: string, read: ReadCard): void {
  const { card, hash } = read;
  const { paint } = progress;
  const say = (about: string, text: string): void =>
    progress.prose(text, { head: `  ${paint.dim(about.padEnd(8))}  `, indent: 12 });
  progress.line(paint.bold(seen(`${card.name} ${card.version}`)));
  if (card.description !== '') say('says', seen(card.description));
  const { provider } = card;
  if (provider !== undefined) say('by', seen(`${provider.organization} ${provider.url}`));
  say('card', seen(address));
  say('at', seen(`${read.interface.url} (${read.interface.binding} ${read.interface.version})`));
  const others = otherInterfaces(read);
  if (others.length > 0) say('also', seen(others.join(', ')));
  say('login', loginText(card));
  const shown = card.skills.slice(0, limits.cardSkillsShown);
  for (const { name, id, description } of shown) say('skill', seen(`${name || id}: ${description}`));
  if (card.skills.length > shown.length) say('', `and ${counted(card.skills.length - shown.length, 'more skill')}`);
  if (card.signatures.length > 0) say('signed', `${counted(card.signatures.length, 'signature')}, not checked`);
  say('hash', hash);
}

function otherInterfaces({ card, interface: used }: ReadCard): readonly string[] {
  const all = card.supportedInterfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`);
  return [...new Set(all)].filter((one) => one !== `${used.binding} ${used.version}`).slice(0, limits.cardSkillsShown);
}

export function loginText(card: AgentCard): string {
  const login = loginOf(card);
  if (login === undefined) return 'none: whoever comes may call';
  if (login.kind === 'token') return 'a token, sent as Authorization: Bearer';
  return login.kind === 'header' ? `a key, sent in the header ${login.name}` : login.what;
}

/**
 * A message as its reader sees it in its prompt. The fence was drawn when the message was sent, so its author could not know
 * it; the author's name may come from outside too and stays on its line.
 */
import { fenced } from '../base/fence.ts';
import type { Payloads } from '../events/catalogue.ts';
import { verificationLine } from '../events/verification-text.ts';

const NAME_CHARACTERS = 100;

const KINDS = { report: 'final report', question: 'question', message: 'message' } as const;

/** It comes from above everybody, and yet whoever called the agent counts on the form of its answer. */
const USERS_WORD =
  'The user wrote this to you while you work. Take it as the word of the user: it goes before what you had planned. ' +
  'What your answer must look like, and who gets it, stay as they were.';

export function messageText(message: Payloads['message.sent'], timestamp: string): string {
  const { from, thread, content, fence, kind = 'message', verification, person } = message;
  const text = fenced('message', fence, content);
  if (person !== undefined)
    return `## MESSAGE FROM THE USER\n\nfrom ${onOneLine(person.by)}, ${timestamp}. ${USERS_WORD}\n\n${text}`;
  const heading = `## MESSAGE\n\n${KINDS[kind]} from ${onOneLine(from.assistant)}, thread ${thread}, ${timestamp}`;
  const checked = verification === undefined ? '' : `\n\n${verificationLine(verification)}`;
  return `${heading}${checked}\n\n${text}`;
}

function onOneLine(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}<>]+/gu, ' ').slice(0, NAME_CHARACTERS);
}

/** What tests of the chat have in common: a person who waits for the line before they type. */
import { type AtKeyboard, type Seat, sitDown } from '../support/terminal/at-keyboard.ts';
import type { TestProject } from './support-project.ts';

export interface InChat extends AtKeyboard {
  /** Says something, and waits until this was seen and the line is there again. */
  says(message: string, seen: string): Promise<void>;
  /** Waits until this is followed by the empty line for the next message. */
  isBack(seen?: string): Promise<void>;
}

/** Waits for the first line. */
export async function inChat(project: TestProject, args: readonly string[] = [], seat: Seat = {}): Promise<InChat> {
  const person = sitDown(project, ['chat', ...args], seat);
  const escaped = (text: string): string => text.replaceAll(/[^\w\s]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
  const isBack = (seen = ''): Promise<void> => person.sees(new RegExp(`${escaped(seen)}[\\s\\S]*\\n›$`, 'u'));
  await isBack();
  return Object.assign(person, {
    isBack,
    async says(message: string, seen: string) {
      person.type(`${message}\r`);
      await person.sees(new RegExp(`› ${escaped(message)}\\n[\\s\\S]*${escaped(seen)}[\\s\\S]*\\n›$`, 'u'));
    },
  });
}

/** What the model was told in a request, the last one first with -1. */
export const told = (server: { readonly requests: readonly { readonly body: unknown }[] }, index = -1): string =>
  JSON.stringify(server.requests.at(index)?.body ?? 'never asked');

/**
 * The engine as a program has it. What it would write down is looked at first: the ledger keeps it for ever, and a program
 * without types may give anything.
 */
import { isObject, isOneOf, isText, isWords, requireGiven } from '../base/check-given.ts';
import { TroupeError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { Engine, OpenWait } from '../engine/port.ts';
import { answering, whereSaid } from '../events/assistants.ts';
import { type Answer, answer } from '../events/catalogue.ts';
import { userMessage } from '../events/message-schemas.ts';
import { budgetCheck } from './check-options.ts';
import { personHere } from './person-here.ts';

const isMessage = (value: unknown): string | undefined =>
  userMessage.safeParse(value).success ? undefined : 'must be what `userText` gives';
const isSwitch = (value: unknown): string | undefined => (typeof value === 'boolean' ? undefined : 'must be true or false');
const starting = {
  ...{ agent: isText, workspace: isText, model: isText, session: isText, run: isText },
  ...{ input: isMessage, origin: isObject, budget: budgetCheck, condense: isSwitch, planOnly: isSwitch },
};

const sending = { by: isText, where: isOneOf(...whereSaid.options), message: isText };

export function checkedEngine(engine: Engine): Engine {
  return {
    ...engine,
    async start(request) {
      requireGiven('start', request, starting, { needed: ['agent', 'input', 'workspace'] });
      return await engine.start(request);
    },
    async answer(run, wait, given, how) {
      const read = answer.safeParse(given);
      const said = answering.optional().safeParse(how);
      if (!read.success || !said.success)
        throw noAnswer("Give { kind: 'approved' }, { kind: 'denied' } or { kind: 'text', text }.");
      requireFit(
        read.data,
        (await engine.waits(run)).find((open) => open.wait === wait),
      );
      return await engine.answer(run, wait, read.data, { by: personHere(), where: 'library', ...present({ ...said.data }) });
    },
    async send(run, text, sender) {
      const problem = isText(text);
      if (problem !== undefined) throw new TroupeError('usage', `send: the text ${problem}.`, { fix: 'Say it in words.' });
      if (sender !== undefined) requireGiven('send', sender, sending, { needed: ['by', 'where'] });
      return await engine.send(run, text, sender ?? { by: personHere(), where: 'library' });
    },
    async forget(session, rule, sender) {
      const problem = rule === undefined ? undefined : isText(rule);
      if (problem !== undefined)
        throw new TroupeError('usage', `forget: the rule ${problem}.`, { fix: 'Give it as `approval.asked` has it.' });
      if (sender !== undefined) requireGiven('forget', sender, sending, { needed: ['by', 'where'] });
      return await engine.forget(session, rule, sender ?? { by: personHere(), where: 'library' });
    },
    async cancel(run, reason, sender) {
      requireReason('cancel', reason);
      if (sender !== undefined) requireGiven('cancel', sender, sending, { needed: ['by', 'where'] });
      return await engine.cancel(run, reason, sender);
    },
    async pause(run, reason, sender) {
      requireReason('pause', reason);
      if (sender !== undefined) requireGiven('pause', sender, sending, { needed: ['by', 'where'] });
      return await engine.pause(run, reason, sender);
    },
  };
}

/** A text is no permission, and a permission no text. One that is not open any more is told so by the engine. */
function requireFit({ kind }: Answer, wait: OpenWait | undefined): void {
  if (wait === undefined || (wait.kind === 'question') === (kind === 'text')) return;
  throw noAnswer(wait.kind === 'question' ? 'A question is answered with a text.' : 'A permission is approved or denied.');
}

const noAnswer = (fix: string): TroupeError => new TroupeError('usage', 'answer: what was given is no answer.', { fix });

function requireReason(what: string, reason: unknown): void {
  const problem = isWords(reason);
  if (problem !== undefined) throw new TroupeError('usage', `${what}: the reason ${problem}.`, { fix: 'Say why, in words.' });
}

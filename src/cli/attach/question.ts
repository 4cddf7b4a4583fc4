/**
 * A question of the run, put on the whole screen: with the same pages, words and hash as anywhere else. What was typed before it
 * could be read is no answer: keys are thrown away until none has come for a moment.
 */
import { stripVTControlCharacters } from 'node:util';
import { eventLoopTurn } from '../../base/clock.ts';
import { shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { InboxItem } from '../../front/inbox.ts';
import { personHere } from '../../library/person-here.ts';
import { askPerson } from '../drive/ask-person.ts';
import type { Desk } from '../drive/desk.ts';
import { headLine } from '../drive/inbox-list.ts';
import { notRecorded } from '../drive/not-recorded.ts';
import { takenBackText } from '../drive/taken-back.ts';
import { whichOf } from '../drive/which-of.ts';
import { callOf } from '../terminal/command.ts';
import { promptWithin } from '../view/canvas.ts';
import type { Attachment } from './attachment.ts';
import { EMPTY, typedDraft } from './draft.ts';
import type { Mode } from './state.ts';

type Asked = Extract<Mode, { kind: 'asked' }>;

interface Question {
  /** What was typed is the answer; `undefined` leaves the question open. */
  typed(text: string | undefined): void;
  /** A key was pressed, whether it counts or not. */
  pressed(): void;
  /** Nobody waits for it any more. */
  gone(): void;
  readonly asked: Put;
}

/** What is asked, and where. */
type Put = Pick<InboxItem, 'wait' | 'session' | 'root'> & {
  /** Whose it is, where that is not to be seen: it is asked in another run than the one on the screen. */
  readonly head?: string;
  /** What is shown when it is over. */
  readonly back: Mode;
};

/** The one question that is put at a time. */
export interface Asking {
  /** The next that waits: of the marked run, or the oldest. */
  open(): void;
  /** One of the inbox, which is shown again when it is over. */
  openItem(item: InboxItem): void;
  typed(text: string | undefined): void;
  /** A key was pressed, whether it counts or not. */
  pressed(): void;
  /** Other questions are open than before. */
  waitsChanged(): void;
}

/** `goOn` is called when one is answered and nobody works on the run. */
export function createAsking(attachment: Attachment, goOn: () => void): Asking {
  let question: Question | undefined;
  const { root } = attachment;
  const open = (put: Put): void => {
    if (question !== undefined) return;
    attachment.change({ notice: undefined });
    const answered = (live: boolean): void => {
      if (!live && put.root === root.run) goOn();
    };
    question = putQuestion(attachment, put, answered, () => {
      question = undefined;
      void attachment.lookAround();
      void attachment.lookInbox();
    });
  };
  return {
    open() {
      const { waits, selected } = attachment.state;
      const wait = waits.find(({ run }) => run === selected) ?? waits[0];
      if (wait !== undefined) open({ wait, session: root.session, root: root.run, back: { kind: 'looking' } });
    },
    openItem(item) {
      const back = { kind: 'inbox', marked: undefined } as const;
      open({ ...item, back, ...(item.root === root.run ? {} : { head: headLine(item) }) });
    },
    typed: (text) => question?.typed(text),
    pressed: () => question?.pressed(),
    waitsChanged() {
      const { waits, inbox } = attachment.state;
      const asked = question?.asked;
      const open = asked?.root === root.run ? waits : inbox.map(({ wait }) => wait);
      const isOpen = open.some(({ run, wait }) => run === asked?.wait.run && wait === asked.wait.wait);
      if (asked !== undefined && !isOpen) question?.gone();
    },
  };
}

/** So many rounds of the event loop without a key in them: the terminal has nothing left. */
const QUIET_ROUNDS = 5;

/** `answered` is called when an answer is in the ledger, with whether somebody works on the run. */
function putQuestion(attachment: Attachment, asked: Put, answered: (live: boolean) => void, over: () => void): Question {
  const gone = new AbortController();
  let keys = 0;
  let answer: PromiseWithResolvers<string | undefined> | undefined;
  const now = (): Asked => {
    const { mode } = attachment.state;
    return mode.kind === 'asked' ? mode : { kind: 'asked', said: [], prompt: undefined, draft: EMPTY, back: 0 };
  };
  const show = (next: Partial<Asked>): void => attachment.change({ mode: { ...now(), ...next } });
  const quiet = async (): Promise<void> => {
    for (let rounds = 0, before = keys; rounds < QUIET_ROUNDS; rounds = keys === before ? rounds + 1 : 0) {
      before = keys;
      await eventLoopTurn();
    }
  };
  const say = (...lines: readonly string[]): void =>
    show({ said: [...now().said, ...lines.flatMap((line) => stripVTControlCharacters(line).split('\n'))], back: 0 });
  const desk: Desk = {
    say,
    put: say,
    async ask(prompt, { prefill = '' } = {}) {
      await quiet();
      if (gone.signal.aborted) return undefined;
      answer = Promise.withResolvers();
      const whole = promptWithin(prompt, Number.POSITIVE_INFINITY);
      show({ prompt, draft: typedDraft(prefill), back: 0 });
      const typed = await answer.promise;
      show({ said: typed === undefined ? now().said : [...now().said, `${whole}${typed}`], prompt: undefined, draft: EMPTY });
      return typed;
    },
    async edit(draft) {
      const { terminal } = attachment.context;
      const back = (): void => {
        terminal.fullScreen.enter();
        attachment.redraw();
      };
      terminal.fullScreen.leave();
      try {
        const edited = await terminal.edit(draft);
        // Whoever is asked to go gets their own screen, and nothing is drawn on another.
        if (edited !== 'left') back();
        return edited;
      } catch (error) {
        back();
        throw error;
      }
    },
  };
  show({ said: [], prompt: undefined });
  void ask(attachment, desk, asked, gone.signal)
    .then((live) => live !== undefined && answered(live))
    .catch((error: unknown) => attachment.change({ notice: error instanceof Error ? error.message : String(error) }))
    .finally(() => {
      if (attachment.state.mode.kind === 'asked') attachment.change({ mode: asked.back });
      over();
    });
  return {
    asked,
    pressed() {
      keys += 1;
    },
    typed: (text) => answer?.resolve(text),
    gone() {
      gone.abort();
      answer?.resolve(undefined);
    },
  };
}

async function ask(
  attachment: Attachment,
  desk: Desk,
  { wait, session, head, root: asking }: Put,
  gone: AbortSignal,
): Promise<boolean | undefined> {
  const { context, project } = attachment;
  const { tree, root } = attachment.state;
  const which = head ?? (await whichOf({ ledger: project.ledger, session, tree, root }, wait));
  const answer = await askPerson(desk, attachment.room(), wait, project.engine.refusedChange, which);
  if (answer === undefined) {
    const takenBack = gone.aborted ? await takenBackText(project.ledger, session, wait) : undefined;
    attachment.change({ notice: takenBack ?? 'the question stays open' });
    return undefined;
  }
  const shown = wait.kind === 'permission' ? wait.shown : undefined;
  const answering = { by: personHere(), where: 'terminal', ...present({ shown }) } as const;
  const outcome = await project.engine.answer(wait.run, wait.wait, answer, answering);
  if (outcome.kind !== 'accepted') {
    attachment.change({ notice: notRecorded(context, wait, outcome).message });
    return undefined;
  }
  const further =
    asking === root ? 'the run, r takes it up here' : `that run: ${callOf(context)} resume ${shortId(asking)} takes it up`;
  attachment.change({ notice: outcome.live ? 'answered' : `answered; if nobody goes on with ${further}` });
  return outcome.live;
}

/**
 * Say something: to a run at work, which hears it before its next turn, or as the next prompt of the session, which begins when
 * the session is free.
 */
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import { post, type Refusal } from '../../api/client.ts';
import { isFile } from '../../api/kept.ts';
import type { PromptedSession } from '../../api/types.ts';
import { promptedWords } from '../../parts/prompted-words.ts';
import { Trouble } from '../../parts/trouble.tsx';
import type { Moment } from './moment.ts';
import { PromptQueue } from './prompt-queue.tsx';

interface Props {
  readonly session: string;
  readonly moment: Moment;
  readonly run: string | undefined;
}

export function PromptBox({ session, moment, run }: Props) {
  const [text, setText] = useState('');
  const [told, setTold] = useState<string>();
  const [refusal, setRefusal] = useState<Refusal>();
  const { root, fold } = moment;
  const named = run === undefined ? undefined : fold.tree.runs.get(run as RunId);
  const target = named?.endedAt === null ? named : root;
  if (target === undefined || root === undefined || !moment.isNow || isFile()) return null;
  const isAtWork = target.endedAt === null;
  const said = text.trim();
  const finish = (error: Refusal | undefined, words: string) => {
    setRefusal(error);
    setTold(error === undefined ? words : undefined);
    // What was typed meanwhile is the next thing to say.
    if (error === undefined) setText((now) => (now.trim() === said ? '' : now));
  };
  const steer = async () => {
    setTold(undefined);
    const done = await post(`/runs/${target.run}/messages`, { text: said });
    finish(done.ok ? undefined : done.error, `${target.agent} hears it before its next turn.`);
  };
  const prompt = async () => {
    setTold(undefined);
    const path = `/sessions/${encodeURIComponent(session)}/prompts`;
    const done = await post<PromptedSession>(path, { text: said, agent: root.agent });
    finish(done.ok ? undefined : done.error, done.ok ? promptedWords(done.value) : '');
  };
  const say = isAtWork ? steer : prompt;
  const isEmpty = said === '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isEmpty) void say();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isEmpty) return;
    void (event.shiftKey ? prompt() : say());
  };
  return (
    <form className="prompt-box" onSubmit={submit}>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
      <PromptQueue session={session} queue={fold.queue} />
      <label>
        <span className="unseen">{isAtWork ? `Say something to ${target.agent}` : `The next prompt for ${root.agent}`}</span>
        <textarea
          className="field"
          rows={2}
          value={text}
          placeholder={isAtWork ? `Steer ${target.agent}, or queue the next prompt` : `Go on with ${root.agent} …`}
          onKeyDown={onKey}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="prompt-acts">
        <button
          type="submit"
          className="button first"
          disabled={isEmpty}
          title={isAtWork ? `${target.agent} hears it before its next turn (Ctrl Enter)` : 'Ctrl Enter'}
        >
          {isAtWork ? 'Steer' : 'Send'}
        </button>
        {isAtWork && (
          <button
            type="button"
            className="button"
            disabled={isEmpty}
            title={`The next prompt for ${root.agent}, when what is under way has ended (Ctrl Shift Enter)`}
            onClick={() => void prompt()}
          >
            Queue
          </button>
        )}
      </div>
      <span className="quiet" role="status">
        {told}
      </span>
    </form>
  );
}

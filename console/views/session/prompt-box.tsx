/** Say something: to a run at work, which hears it before its next turn, or as the next prompt of the session. */
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import { post, type Refusal } from '../../api/client.ts';
import { isFile } from '../../api/kept.ts';
import { Trouble } from '../../parts/trouble.tsx';
import type { Moment } from './moment.ts';

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
  const isSteer = target.endedAt === null;
  const send = async () => {
    const words = text.trim();
    if (words === '') return;
    const done = isSteer
      ? await post(`/runs/${target.run}/messages`, { text: words })
      : await post('/runs', { agent: root.agent, prompt: words, session });
    setRefusal(done.ok ? undefined : done.error);
    setTold(done.ok ? (isSteer ? `${target.agent} hears it before its next turn.` : 'Started.') : undefined);
    if (done.ok) setText('');
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
  };
  return (
    <form className="prompt-box" onSubmit={submit}>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
      <label>
        <span className="unseen">{isSteer ? `Say something to ${target.agent}` : `The next prompt for ${root.agent}`}</span>
        <textarea
          className="field"
          rows={2}
          value={text}
          placeholder={isSteer ? `Steer ${target.agent}: it hears this before its next turn` : `Go on with ${root.agent} …`}
          onKeyDown={onKey}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="submit" className="button first" disabled={text.trim() === ''}>
        {isSteer ? 'Steer' : 'Send'}
      </button>
      <span className="quiet" role="status">
        {told}
      </span>
    </form>
  );
}

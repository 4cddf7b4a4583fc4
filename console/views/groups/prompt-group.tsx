/** Say something to the group, or to one member of it; while it works on another prompt this one waits its turn. */
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { post, type Refusal } from '../../api/client.ts';
import type { GroupShown } from '../../api/types.ts';
import { promptedWords } from '../../parts/prompted-words.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { project } from '../../store/hooks.ts';

interface Prompted {
  readonly outcome: 'started' | 'queued';
  readonly before: number;
}

export function PromptGroup({ group: { name, members } }: { readonly group: GroupShown }) {
  const [text, setText] = useState('');
  const [member, setMember] = useState('');
  const [told, setTold] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();
  const send = async () => {
    const words = text.trim();
    if (words === '') return;
    const body = { text: words, ...(member === '' ? {} : { member }) };
    setTold('');
    const done = await post<Prompted>(`/groups/${encodeURIComponent(name)}/prompts`, body);
    setRefusal(done.ok ? undefined : done.error);
    setTold(done.ok ? promptedWords(done.value) : '');
    // What was typed meanwhile is the next thing to say.
    if (done.ok) setText((now) => (now.trim() === words ? '' : now));
    project.touch();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
  };
  return (
    <form className="form to-group" aria-label={`Say something to ${name}`} onSubmit={submit}>
      <label>
        <span className="unseen">What you say</span>
        <textarea
          className="field"
          rows={2}
          value={text}
          placeholder={member === '' ? `To all of ${name} …` : `To ${member} alone …`}
          onKeyDown={onKey}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="form-row">
        <select
          className="field member-field"
          aria-label="To whom"
          value={member}
          onChange={(event) => setMember(event.target.value)}
        >
          <option value="">to the whole group</option>
          {members.map((one) => (
            <option key={one.name} value={one.name}>
              to {one.name}
            </option>
          ))}
        </select>
        <button type="submit" className="button first" disabled={text.trim() === ''}>
          Send
        </button>
        <span className="quiet" role="status">
          {told}
        </span>
      </div>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </form>
  );
}

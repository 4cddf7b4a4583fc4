/** Comments on lines: written, gathered, and sent together, to the run that works or as the next prompt of the session. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import { counted } from '../../../src/base/wording.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { post, type Refusal } from '../../api/client.ts';
import type { Shown } from '../../parts/session-page.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { type Comments, commentsText } from './comments.ts';

interface Props {
  readonly path: string;
  /** Whose change it is. */
  readonly run: RunId;
  readonly comments: Comments;
  readonly shown: Shown;
  readonly session: string;
}

export function CommentBox({ path, run, comments, shown, session }: Props) {
  const [told, setTold] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();
  const { runs, roots } = shown.fold.tree;
  const author = runs.get(run);
  const root = topOf(runs, author) ?? runs.get(roots.at(-1) ?? run);
  const listener = author?.endedAt === null ? author : root?.endedAt === null ? root : undefined;
  const send = async () => {
    const { all } = comments;
    const text = commentsText(path, all);
    const done =
      listener === undefined
        ? await post('/runs', { agent: root?.agent, prompt: text, session })
        : await post(`/runs/${listener.run}/messages`, { text });
    setRefusal(done.ok ? undefined : done.error);
    setTold(
      done.ok
        ? listener === undefined
          ? `${root?.agent} goes on with it.`
          : `${listener.agent} hears it before its next turn.`
        : '',
    );
    if (done.ok) comments.sent(all);
  };
  return (
    <section className="section" aria-label="Comments">
      {comments.open !== undefined && <Writing key={`${comments.open.position} ${comments.open.number}`} comments={comments} />}
      {comments.all.length > 0 && (
        <>
          <ul className="comments">
            {comments.all.map((comment) => (
              <li key={`${comment.position} ${comment.number} ${comment.words}`}>
                <span className="quiet">line {comment.number}</span> <span>{comment.words}</span>
                <button type="button" className="button quiet" onClick={() => comments.remove(comment)}>
                  Take back
                </button>
              </li>
            ))}
          </ul>
          <div className="form-row">
            <button type="button" className="button first" onClick={() => void send()}>
              Send {counted(comments.all.length, 'comment')} to {listener?.agent ?? root?.agent ?? 'the agent'}
            </button>
          </div>
        </>
      )}
      {comments.all.length === 0 && comments.open === undefined && (
        <p className="quiet">
          The number of a line takes a comment on it; {listener?.agent ?? root?.agent ?? 'the agent'} gets them.
        </p>
      )}
      <span role="status">{told}</span>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </section>
  );
}

function topOf(runs: ReadonlyMap<RunId, RunNode>, from: RunNode | undefined): RunNode | undefined {
  let top = from;
  for (let next = top; next !== undefined; next = next.parent === null ? undefined : runs.get(next.parent)) top = next;
  return top;
}

function Writing({ comments }: { readonly comments: Comments }) {
  const [words, setWords] = useState('');
  const place = useRef<HTMLTextAreaElement>(null);
  useEffect(() => place.current?.focus(), []);
  const keep = (event: FormEvent) => {
    event.preventDefault();
    comments.keep(words);
  };
  return (
    <form
      className="form"
      onSubmit={keep}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) comments.keep(words);
      }}
    >
      <label>
        <span>Comment on line {comments.open?.number}</span>
        <textarea
          ref={place}
          className="field"
          rows={2}
          value={words}
          maxLength={4_000}
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      <div className="form-row">
        <button type="submit" className="button">
          Keep the comment
        </button>
        <button type="button" className="button quiet" onClick={() => comments.keep('')}>
          Leave it
        </button>
      </div>
    </form>
  );
}

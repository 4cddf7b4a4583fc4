/** The prompts that wait their turn; one that has not begun can be taken back. */
import { useState } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { PromptQueue as Queue } from '../../../src/projections/prompt-queue.ts';
import { firstLine } from '../../../src/projections/readable.ts';
import { type Refusal, remove } from '../../api/client.ts';
import { Trouble } from '../../parts/trouble.tsx';

const CHARACTERS = 200;

export function PromptQueue({ session, queue }: { readonly session: string; readonly queue: Queue }) {
  const [refusal, setRefusal] = useState<Refusal>();
  if (queue.size === 0) return null;
  const takeBack = async (prompt: string) => {
    const done = await remove(`/sessions/${encodeURIComponent(session)}/prompts/${encodeURIComponent(prompt)}`);
    setRefusal(done.ok ? undefined : done.error);
  };
  return (
    <section className="prompt-queue" aria-label="What waits its turn">
      <ol>
        {[...queue.values()].map(({ prompt, text, person }) => (
          <li key={prompt}>
            <span className="tone-waits" aria-hidden="true">
              ◌
            </span>
            <span className="cut">{visibleText(firstLine(text, CHARACTERS))}</span>
            {person !== undefined && <span className="quiet">{person.by}</span>}
            <button type="button" className="button quiet" onClick={() => void takeBack(prompt)}>
              Take back
            </button>
          </li>
        ))}
      </ol>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </section>
  );
}

/** Something that waits for a person: the largest thing on the screen while it is open. */

import { lazy, Suspense, useState } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { InboxItem } from '../../api/types.ts';
import '../styles/wait-card.css';
import { addressOfWait } from './address.ts';
import { useAnswer } from './answer.ts';
import { AnsweredBefore } from './answered-before.tsx';
import { Outcome } from './outcome.tsx';
import { PermissionWait } from './permission.tsx';
import { QuestionWait } from './question.tsx';
import { WayDown } from './way-down.tsx';

const AnotherDevice = lazy(async () => ({ default: (await import('../device/another-device.tsx')).AnotherDevice }));

interface Props {
  readonly item: InboxItem;
  /** It does not wait any more. */
  readonly isGone: boolean;
  /** It has the whole window: it is on a phone already. */
  readonly isAlone?: boolean;
}

export function WaitCard({ item, isGone, isAlone = false }: Props) {
  const answers = useAnswer(item);
  const isElsewhere = isGone && answers.answering.state === 'open';
  return (
    <article className="wait-card" aria-label={`${item.agent} waits for you`}>
      <header>
        <h2>
          <span className="wait-sign" aria-hidden="true">
            ◐
          </span>{' '}
          {visibleText(item.kind === 'permission' ? `${item.agent} wants to use ${item.tool}` : `${item.agent} asks`)}
        </h2>
        <WayDown item={item} />
        {!isGone && !isAlone && <OnAPhone item={item} />}
      </header>
      {isElsewhere && <AnsweredBefore run={item.run} wait={item.wait} />}
      {item.kind === 'permission' ? (
        <PermissionWait item={item} answers={isElsewhere ? CLOSED : answers} />
      ) : (
        <QuestionWait item={item} answers={isElsewhere ? CLOSED : answers} />
      )}
      <Outcome answering={answers.answering} />
    </article>
  );
}

const CLOSED = { answering: { state: 'done', words: '' }, send: () => undefined } as const;

/** The same question alone, behind a link that also logs in. */
function OnAPhone({ item }: { readonly item: InboxItem }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button quiet" onClick={() => setOpen(true)}>
        On a phone
      </button>
      {isOpen && (
        <Suspense>
          <AnotherDevice close={() => setOpen(false)} page={addressOfWait(item, 'answer')} />
        </Suspense>
      )}
    </>
  );
}

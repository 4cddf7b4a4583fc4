/** A call that needs a permission: all of it, what "always" would mean, and the five ways to answer. */
import { useState } from 'react';
import type { Json } from '../../../src/base/json.ts';
import { judgedLine } from '../../../src/base/visible-text.ts';
import type { Answer } from '../../../src/events/catalogue.ts';
import type { InboxItem } from '../../api/types.ts';
import { useKeys } from '../../app/keys.ts';
import { useMe } from '../../store/hooks.ts';
import { marked, ShownText } from '../shown-text.tsx';
import type { Answers } from './answer.ts';
import { DenyWords } from './deny-words.tsx';
import { EditCall } from './edit-call.tsx';
import { askedIn } from './request.ts';

type Permission = Extract<InboxItem, { readonly kind: 'permission' }>;

interface Props {
  readonly item: Permission;
  readonly answers: Answers;
}

type Opened = 'edit' | 'deny' | undefined;

export function PermissionWait({ item, answers: { answering, send } }: Props) {
  const [opened, setOpened] = useState<Opened>();
  const me = useMe();
  const isOwner = me.state === 'there' && me.value.role === 'owner';
  const isOpen = answering.state === 'open' || answering.state === 'refused';
  const { why, text } = askedIn(item.request);
  const approve = (more: Omit<Extract<Answer, { kind: 'approved' }>, 'kind'> = {}) => send({ kind: 'approved', ...more });
  const acts: readonly Act[] = [
    { key: '1', word: 'Approve once', first: true, may: true, act: () => approve() },
    { key: '2', word: 'For this session', may: item.rule !== undefined, act: () => approve({ remember: true }) },
    {
      ...{ key: '3', word: 'As a rule of the project', may: item.rule !== undefined && isOwner },
      act: () => approve({ remember: true, scope: 'project' }),
    },
    { key: '4', word: 'Edit …', may: true, act: () => setOpened('edit') },
    { key: '5', word: 'Deny …', danger: true, may: true, act: () => setOpened('deny') },
  ];
  useKeys(Object.fromEntries(acts.map(({ key, may, act }) => [key, may && isOpen ? act : undefined])));
  return (
    <>
      {why !== `${item.agent} wants to use ${item.tool}:` && <p className="why">{marked(why)}</p>}
      <ShownText text={text} label={`What ${item.agent} wants to do with ${item.tool}`} />
      {item.rule !== undefined && (
        <p className="quiet">
          2 and 3 would also allow, from now on: <code>{judgedLine(item.rule)}</code>
        </p>
      )}
      {opened === undefined && <ActRow acts={acts} isOpen={isOpen} />}
      {opened === 'edit' && isOpen && (
        <EditCall input={item.input} close={() => setOpened(undefined)} send={(input: Json) => approve({ input })} />
      )}
      {opened === 'deny' && isOpen && (
        <DenyWords
          close={() => setOpened(undefined)}
          send={(note) => send({ kind: 'denied', ...(note === '' ? {} : { note }) })}
        />
      )}
    </>
  );
}

interface Act {
  readonly key: string;
  readonly word: string;
  readonly may: boolean;
  readonly first?: boolean;
  readonly danger?: boolean;
  readonly act: () => void;
}

function ActRow({ acts, isOpen }: { readonly acts: readonly Act[]; readonly isOpen: boolean }) {
  return (
    <div className="act-row">
      {acts.map(({ key, word, may, first, danger, act }) => (
        <button
          key={key}
          type="button"
          className={`button${first === true ? ' first' : ''}${danger === true ? ' danger' : ''}`}
          disabled={!may || !isOpen}
          onClick={act}
        >
          {word} <kbd>{key}</kbd>
        </button>
      ))}
    </div>
  );
}

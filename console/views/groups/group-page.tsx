/** One group: what was said, what it works on, who is in it; and what you say next, to all of it or to one member. */

import { useState } from 'react';
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import { post, type Refusal } from '../../api/client.ts';
import type { GroupShown } from '../../api/types.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { When } from '../../parts/when.tsx';
import { project, useLoaded, useSession } from '../../store/hooks.ts';
import { Chat } from './chat.tsx';
import { GroupState } from './group-state.tsx';
import { Iterations } from './iterations.tsx';
import { PromptGroup } from './prompt-group.tsx';

export function GroupPage({ name }: { readonly name: string }) {
  const group = useLoaded<GroupShown>(`/groups/${encodeURIComponent(name)}`);
  return (
    <>
      <Link className="split-back" href="/groups">
        ← all groups
      </Link>
      <LoadedView loaded={group} what={`the group ${name}`}>
        {(shown) => <Shown group={shown} />}
      </LoadedView>
    </>
  );
}

function Shown({ group }: { readonly group: GroupShown }) {
  // Its session begins with the first prompt: before that there is nothing to follow.
  const hasBegun = group.runs.length > 0;
  return (
    <>
      <div className="section-head">
        <h2>{visibleText(group.name)}</h2>
        <GroupState state={group.state} />
        <span className="quiet">
          {group.mode}
          {group.preset === undefined ? '' : `, from ${group.preset}`}
        </span>
        {hasBegun && <Link href={`/sessions/${group.session}`}>its session</Link>}
        <Steer group={group} />
      </div>
      {hasBegun ? <Talk session={group.session} /> : <p className="quiet">Nothing was said to it yet.</p>}
      <Queue group={group} />
      <PromptGroup group={group} />
      {hasBegun && <Work session={group.session} />}
      <Members group={group} />
    </>
  );
}

const Talk = ({ session }: { readonly session: string }) => <Chat view={useSession(session)} />;

function Work({ session }: { readonly session: string }) {
  const { tree } = useSession(session).history.fold;
  const progress = [...tree.progress.groups.values()].filter(({ iterations }) => iterations.length > 0);
  return progress.toReversed().map((one) => <Iterations key={one.run} progress={one} session={session} />);
}

function Steer({ group: { name, state } }: { readonly group: GroupShown }) {
  const [refusal, setRefusal] = useState<Refusal>();
  const act = async (what: 'pause' | 'resume' | 'stop') => {
    const done = await post(`/groups/${encodeURIComponent(name)}/${what}`, {});
    setRefusal(done.ok ? undefined : done.error);
    project.touch();
  };
  const isAtWork = state === 'running' || state === 'waiting';
  return (
    <span className="form-row">
      {isAtWork && (
        <button type="button" className="button" onClick={() => void act('pause')}>
          Pause
        </button>
      )}
      {(state === 'paused' || state === 'parked' || state === 'interrupted' || state === 'lost') && (
        <button type="button" className="button" onClick={() => void act('resume')}>
          Go on
        </button>
      )}
      {isAtWork && (
        <button type="button" className="button danger" onClick={() => void act('stop')}>
          Stop
        </button>
      )}
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </span>
  );
}

function Queue({ group: { queue } }: { readonly group: GroupShown }) {
  if (queue.length === 0) return null;
  return (
    <section className="section" aria-label="What waits its turn">
      <h2>◌ {counted(queue.length, 'prompt')} waiting</h2>
      <ol>
        {queue.map(({ prompt, text, member, queuedAt }) => (
          <li key={prompt}>
            <span className="said">{visibleText(text)}</span>{' '}
            <span className="quiet">
              {member === undefined ? '' : `for ${member}, `}
              <When at={queuedAt} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Members({ group: { members, strategy, worktrees, repo } }: { readonly group: GroupShown }) {
  return (
    <section className="section">
      <h2>Members</h2>
      <table className="table" aria-label="Members">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Agent</th>
            <th scope="col">Part</th>
            <th scope="col">Model</th>
            <th scope="col">Worktree</th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ name, agent, role, model }) => (
            <tr key={name}>
              <td>{visibleText(name)}</td>
              <td>{visibleText(agent)}</td>
              <td>{role}</td>
              <td>{model ?? 'its own'}</td>
              <td>
                <code>{worktrees.find(({ member }) => member === name || member === undefined)?.path ?? ''}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet">
        {strategy === 'shared'
          ? 'All work in the project’s own folder.'
          : `Worktrees: ${worktrees.map(({ branch }) => branch).join(', ')}`}
        {repo === undefined ? '' : ` Of ${repo}.`}
      </p>
    </section>
  );
}

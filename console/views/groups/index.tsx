/** Groups that last: who is in them, what they work on, what waits for them; and new ones from presets. */

import { useState } from 'react';
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import type { GroupList, GroupRow } from '../../api/types.ts';
import { useKeys } from '../../app/keys.ts';
import type { ViewProps } from '../../app/places.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/split.css';
import '../../parts/styles/table.css';
import { useLoaded } from '../../store/hooks.ts';
import { GroupPage } from './group-page.tsx';
import { GroupState } from './group-state.tsx';
import './groups.css';
import { NewGroup } from './new-group.tsx';

export function View({ params: { group } }: ViewProps) {
  const groups = useLoaded<GroupList>('/groups');
  const [isMaking, setMaking] = useState(false);
  useKeys({ n: () => setMaking(true) });
  return (
    <>
      <header className="view-head">
        <h1>Groups</h1>
        <button type="button" className="button" onClick={() => setMaking(true)}>
          New group <kbd>n</kbd>
        </button>
      </header>
      <LoadedView loaded={groups} what="the list of groups">
        {(list) =>
          list.groups.length === 0 ? (
            <NoGroups make={() => setMaking(true)} />
          ) : (
            <div className={group === undefined ? 'split' : 'split chosen'}>
              <nav className="split-list" aria-label="Groups">
                <Listed list={list} chosen={group} />
              </nav>
              <section className="split-main" aria-label={group === undefined ? 'No group chosen' : `Group ${group}`}>
                {group === undefined ? (
                  <p className="quiet">Choose a group to talk with it.</p>
                ) : (
                  <GroupPage key={group} name={group} />
                )}
              </section>
            </div>
          )
        }
      </LoadedView>
      {isMaking && <NewGroup close={() => setMaking(false)} />}
    </>
  );
}

function NoGroups({ make }: { readonly make: () => void }) {
  return (
    <div className="empty">
      <h2>There is no group yet</h2>
      <p>A group is several agents that you talk to again and again, as one. Make one from a preset:</p>
      <button type="button" className="button first" onClick={make}>
        Choose a preset
      </button>
      <p>or on the command line:</p>
      <pre>troupe groups create NAME --preset PRESET</pre>
    </div>
  );
}

interface ListedProps {
  readonly list: GroupList;
  readonly chosen: string | undefined;
}

function Listed({ list: { folders, groups }, chosen }: ListedProps) {
  const known = new Map(folders.map(({ folder, name }) => [folder, name]));
  const places = [...Map.groupBy(groups, ({ folder }) => known.get(folder) ?? '')].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  return places.map(([folder, own]) => (
    <section key={folder} aria-label={folder === '' ? 'Groups' : `Folder ${folder}`}>
      {folder !== '' && <h2 className="list-group">{visibleText(folder)}</h2>}
      <ul>
        {own.map((group) => (
          <li key={group.group}>
            <Row group={group} isChosen={group.name === chosen} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

function Row({
  group: { name, mode, members, state, queued, pinned },
  isChosen,
}: {
  readonly group: GroupRow;
  readonly isChosen: boolean;
}) {
  return (
    <Link className="split-row" href={`/groups/${encodeURIComponent(name)}`} aria-current={isChosen ? 'true' : undefined}>
      <strong>{visibleText(name)}</strong> {pinned && <span className="quiet">pinned</span>}
      <span className="quiet">
        {mode}, {counted(members.length, 'member')}
        {queued > 0 ? `, ${queued} waiting` : ''}
      </span>
      <GroupState state={state} />
    </Link>
  );
}

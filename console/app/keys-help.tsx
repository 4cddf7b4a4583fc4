/** What the keys do. */
import { Dialog } from '../parts/dialog.tsx';

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['/', 'find a view, a session, an agent, words of any session'],
      ['g i', 'to the inbox'],
      ['g s', 'to the sessions'],
      ['g g', 'to the groups'],
      ['g a', 'to the agents'],
      ['g c', 'to the costs'],
      ['g h', 'to the health'],
      ['?', 'this list'],
    ],
  ],
  [
    'Inbox',
    [
      ['j k', 'the next, the one before'],
      ['1', 'approve once'],
      ['2', 'approve for this session'],
      ['3', 'approve by a rule, for the project'],
      ['4', 'edit, then approve'],
      ['5', 'deny, with words'],
    ],
  ],
  [
    'Session',
    [
      ['j k', 'the next event, the one before'],
      ['[ ]', 'back and forth in time'],
      ['End', 'to now, and follow'],
      ['r', 'the raw event'],
      ['f', 'search in this session'],
    ],
  ],
];

export function KeysHelp({ close }: { readonly close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <div className="keys-help">
        {KEYS.map(([group, keys]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** A notification of the browser when something new waits; only if somebody asked for it. */
import { useEffect, useRef, useState } from 'react';
import { useInbox } from '../../store/hooks.ts';

const KEY = 'troupe-notify';
const isThere = 'Notification' in window;

export function NotifyButton() {
  const [wanted, setWanted] = useState(
    () => isThere && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'yes',
  );
  useNotices(wanted);
  if (!isThere) return null;
  const change = async () => {
    const next = !wanted && (await Notification.requestPermission()) === 'granted';
    localStorage.setItem(KEY, next ? 'yes' : 'no');
    setWanted(next);
  };
  return (
    <button type="button" className="button quiet" aria-pressed={wanted} onClick={() => void change()}>
      {wanted ? 'Notifies you' : 'Notify me'}
    </button>
  );
}

/** Once for each that is new, and only while nobody looks at the page. */
function useNotices(wanted: boolean): void {
  const inbox = useInbox();
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (inbox.state !== 'there') return;
    const before = known.current;
    known.current = new Set(inbox.value.map(({ run, wait }) => `${run} ${wait}`));
    if (!wanted || before === undefined || !document.hidden) return;
    for (const { run, wait, agent, kind } of inbox.value) {
      if (before.has(`${run} ${wait}`)) continue;
      const body = kind === 'permission' ? 'wants a permission' : 'asks something';
      const notice = new Notification(`${agent} ${body}`, { tag: `${run} ${wait}` });
      notice.onclick = () => window.focus();
    }
  }, [inbox, wanted]);
}

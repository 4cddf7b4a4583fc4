/** A notification of the browser when something new waits, whatever view is open; only if somebody asked for it. */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import { addressOfWait } from '../parts/wait/address.ts';
import { useInbox } from '../store/hooks.ts';

const KEY = 'troupe-notify';
const listeners = new Set<() => void>();

export const canNotify = 'Notification' in window;

const isWanted = (): boolean => canNotify && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'yes';

export function useWanted(): boolean {
  return useSyncExternalStore((changed) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, isWanted);
}

export async function want(next: boolean): Promise<void> {
  const isGranted = next && (await Notification.requestPermission()) === 'granted';
  localStorage.setItem(KEY, isGranted ? 'yes' : 'no');
  for (const listener of listeners) listener();
}

/** Once for each that is new, and only while nobody looks at the page; it leads to what is asked. */
export function useNotices(): void {
  const isOn = useWanted();
  const inbox = useInbox();
  const [, go] = useLocation();
  const known = useRef<ReadonlySet<string>>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where a click leads is no reason to look again
  useEffect(() => {
    if (inbox.state !== 'there') return;
    const before = known.current;
    known.current = new Set(inbox.value.map(({ run, wait }) => `${run} ${wait}`));
    if (!isOn || before === undefined || !document.hidden) return;
    for (const item of inbox.value) {
      const tag = `${item.run} ${item.wait}`;
      if (before.has(tag)) continue;
      const notice = new Notification(`${item.agent} ${item.kind === 'permission' ? 'wants a permission' : 'asks something'}`, {
        tag,
      });
      notice.onclick = () => {
        window.focus();
        go(addressOfWait(item));
      };
    }
  }, [inbox, isOn]);
}

/** The title of the tab: how many things wait, then where one is. */
import { useEffect } from 'react';
import { useInbox } from '../store/hooks.ts';

export function useTitle(title: string | undefined): void {
  const inbox = useInbox();
  const waiting = inbox.state === 'there' ? inbox.value.length : 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title === undefined ? '' : `${title} · `}Troupe`;
    // A number on the icon of an installed page, where there is such a thing.
    if ('setAppBadge' in navigator) void navigator.setAppBadge(waiting).catch(() => undefined);
  }, [title, waiting]);
}

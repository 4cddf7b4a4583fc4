/** What somebody is looking at stays, also when it waits no more: they must see what became of it. */
import { useRef } from 'react';
import type { InboxItem } from '../../api/types.ts';

export function useKept(item: InboxItem | undefined, run: string, wait: string): InboxItem | undefined {
  const last = useRef<InboxItem>(undefined);
  if (item !== undefined) last.current = item;
  const kept = last.current;
  return kept?.run === run && kept.wait === wait ? kept : undefined;
}

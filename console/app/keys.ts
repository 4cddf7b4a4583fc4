/**
 * Keys that do something. `mod+k` is Ctrl or Command with k, `g i` is one key after the other. Nothing is taken from somebody who
 * types into a field, and nothing while a dialog lies over the page.
 */
import { useEffect, useRef } from 'react';

export type Keys = Readonly<Record<string, (() => void) | undefined>>;

const SEQUENCE_MS = 900;

export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || isBusy(event)) return;
      const name = event.ctrlKey || event.metaKey ? `mod+${event.key.toLowerCase()}` : event.key;
      const sequence = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${name}` : name;
      const action = current.current[sequence] ?? current.current[name];
      first = name.length === 1 ? { key: name, at: event.timeStamp } : undefined;
      if (action === undefined) return;
      first = undefined;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

function isBusy(event: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  const types = target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  return types && !(event.ctrlKey || event.metaKey);
}

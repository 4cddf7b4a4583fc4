/** The address of a view behind the `#`: a file has no server that would know others. `#12` is the session at its 12th event. */
import { useSyncExternalStore } from 'react';
import type { BaseLocationHook } from 'wouter';

export interface Fragment {
  readonly hook: BaseLocationHook;
  readonly searchHook: () => string;
  readonly hrefs: (href: string) => string;
}

export function createFragment(start: string): Fragment {
  const whole = (): string => {
    const text = location.hash.slice(1);
    if (/^\d+$/.test(text)) return `${start}?at=${text}&event=${text}`;
    return text.startsWith('/') ? text : start;
  };
  const path = (): string => whole().split('?')[0] ?? start;
  const search = (): string => whole().split('?').slice(1).join('?');
  const full = (to: string): string => `#${to.startsWith('?') ? path() + to : to}`;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  window.addEventListener('hashchange', tell);
  window.addEventListener('popstate', tell);
  const subscribe = (changed: () => void) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  };
  const navigate = (to: string, { replace = false }: { readonly replace?: boolean } = {}): void => {
    history[replace ? 'replaceState' : 'pushState'](null, '', full(to));
    tell();
  };
  return {
    hook: () => [useSyncExternalStore(subscribe, path), navigate],
    searchHook: () => useSyncExternalStore(subscribe, search),
    hrefs: full,
  };
}

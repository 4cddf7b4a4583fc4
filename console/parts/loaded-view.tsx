/** What was asked for: shown when it is there, otherwise what is awaited or what is wrong. */
import type { ReactNode } from 'react';
import type { Loaded } from '../store/resource.ts';
import { Awaited } from './awaited.tsx';
import { Trouble } from './trouble.tsx';

interface Props<Value> {
  readonly loaded: Loaded<Value>;
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

export function LoadedView<Value>({ loaded, what, children }: Props<Value>) {
  switch (loaded.state) {
    case 'awaited':
      return <Awaited what={what} />;
    case 'refused':
      return <Trouble what={loaded.refusal.message} fix={loaded.refusal.fix} />;
    default:
      return children(loaded.value);
  }
}

/** Rail and view, the keys that work everywhere, and what lies over them: the palette and the list of keys. */
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { LinkLine } from '../parts/link-line.tsx';
import { useKeys } from './keys.ts';
import { KeysHelp } from './keys-help.tsx';
import { useNotices } from './notices.ts';
import type { Place } from './places.ts';
import { Rail } from './rail.tsx';
import { useTitle } from './title.ts';

const AnotherDevice = lazy(async () => ({ default: (await import('../parts/device/another-device.tsx')).AnotherDevice }));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

interface Props {
  readonly entry?: Place;
  readonly children: ReactNode;
}

type Over = 'palette' | 'help' | 'device' | undefined;

export function Frame({ entry, children }: Props) {
  const [over, setOver] = useState<Over>();
  const [, go] = useLocation();
  useTitle(entry?.title);
  useNotices();
  useKeys({
    'mod+k': () => setOver('palette'),
    '/': () => setOver('palette'),
    '?': () => setOver('help'),
    'g i': () => go('/inbox'),
    'g s': () => go('/sessions'),
    'g g': () => go('/groups'),
    'g a': () => go('/agents'),
    'g c': () => go('/costs'),
    'g h': () => go('/health'),
  });
  const close = () => setOver(undefined);
  return (
    <div className="frame">
      <a className="skip" href="#main">
        To the content
      </a>
      <Rail
        current={entry}
        openPalette={() => setOver('palette')}
        openHelp={() => setOver('help')}
        openDevice={() => setOver('device')}
      />
      <main className="main" id="main" tabIndex={-1}>
        <LinkLine />
        {children}
      </main>
      {over === 'palette' && (
        <Suspense>
          <Palette close={close} openDevice={() => setOver('device')} />
        </Suspense>
      )}
      {over === 'device' && (
        <Suspense>
          <AnotherDevice close={close} page={location.pathname + location.search} />
        </Suspense>
      )}
      {over === 'help' && <KeysHelp close={close} />}
    </div>
  );
}

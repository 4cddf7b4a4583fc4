import type { ViewProps } from '../../app/places.ts';
import { NotHereYet } from '../../parts/not-here-yet.tsx';

export function View({ params: { session = '' } }: ViewProps) {
  return <NotHereYet title="Context" command="troupe logs RUN --json" of={{ session, view: 'context' }} />;
}

import type { ViewProps } from '../../app/places.ts';
import { NotHereYet } from '../../parts/not-here-yet.tsx';

export function View({ params: { session = '' } }: ViewProps) {
  return <NotHereYet title="Result" command="troupe show RUN" of={{ session, view: 'result' }} />;
}

import type { ViewProps } from '../../app/places.ts';
import { NotHereYet } from '../../parts/not-here-yet.tsx';

export function View({ params: { session = '' } }: ViewProps) {
  return <NotHereYet title="Files and diffs" command="troupe artifacts RUN" of={{ session, view: 'artifacts' }} />;
}

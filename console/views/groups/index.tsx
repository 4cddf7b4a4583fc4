import { NotHereYet } from '../../parts/not-here-yet.tsx';

export function View() {
  return <NotHereYet title="Groups" command="troupe groups" />;
}

import { NotHereYet } from '../../parts/not-here-yet.tsx';

export function View() {
  return <NotHereYet title="Costs" command="troupe cost" />;
}

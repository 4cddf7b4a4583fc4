/** Team as the rest of the program has it: a core, and the seats in which its participants play. */
import type { Seat } from '../../events/run-origin.ts';
import type { Pattern, Place } from '../pattern.ts';
import { announce, BROADCAST, seatedLoop } from './seat.ts';
import { runTeam } from './team.ts';

export const teamPattern = {
  key: 'team',
  tools: [BROADCAST],
  answeredBy: ['supervisor'],
  core: (run, request) => (run.agent.team === undefined ? undefined : runTeam(run, run.agent.team, request)),
  place({ seat, goesOn }) {
    if (seat === undefined) return undefined;
    return {
      applies: appliesTo(seat, goesOn),
      loop: (run, request) => seatedLoop(run, request, seat),
      said: (run, result) => announce(run, seat, result),
    };
  },
} as const satisfies Pattern;

/** What a supervisor reports goes on along its own handoff; if the team is its own, that belongs to the team's run. */
function appliesTo({ role, own }: Seat, goesOn: boolean): Place['applies'] {
  if (role === 'supervisor') return own === true ? 'none' : 'following';
  return goesOn ? 'none' : 'all';
}

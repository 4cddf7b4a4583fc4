/** Team as the rest of the program has it: a core, and the seats in which its participants play. */
import type { Pattern } from '../pattern.ts';
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
      // What a supervisor reports goes on along its own handoff, which belongs to the team's run if the team is its own.
      applies: seat.role === 'supervisor' && seat.own !== true ? 'following' : seat.role === 'member' && !goesOn ? 'all' : 'none',
      loop: (run, request) => seatedLoop(run, request, seat),
      said: (run, result) => announce(run, seat, result),
    };
  },
} as const satisfies Pattern;

/** What forgetting reaches and what it does not, and what programs get of it. */
import type { Project } from '../../project/project.ts';
import type { ForgetPlaces, ForgetPlan, Forgotten } from './forget.ts';

/** Where the state of the project is. */
export const forgetPlaces = ({ ledger, config }: Pick<Project, 'ledger' | 'config'>): ForgetPlaces => ({
  ...{ ledger, home: config.home },
  file: config.ledgerAddress.kind === 'sqlite' ? config.ledgerAddress.location() : config.ledger,
});

/** What was planned, and what came of it once it was carried out; its schema is `forgotten` of `shapes/forgetting.ts`. */
export function forgottenValue(plan: ForgetPlan, done: Forgotten | undefined, unreached: readonly string[]) {
  const { kind: _kind, ...counts } = done ?? { ...plan.outcome, files: [] };
  return {
    ...counts,
    sessions: [...plan.sessions],
    forks: [...plan.forks],
    pinned: [...plan.pinned],
    folders: [...plan.folders],
    files: [...counts.files],
    left: [...counts.left],
    unreached: [...unreached],
    shared: counts.shared.map((one) => ({ ...one })),
  };
}

export function unreachedBy({ config }: Pick<Project, 'config'>): readonly string[] {
  const server = ['backups and the log of the database server', 'versions that a bucket keeps of what was deleted'];
  return [
    'what was exported, copied to another ledger or kept as a test before',
    'backups',
    ...(config.ledgerAddress.kind === 'postgres' ? server : []),
    'files in workspaces and what git keeps of them',
    'models, servers and agents elsewhere that were told',
    ...(config.taskRedis === undefined ? [] : ['copies of tasks in Redis, until their time is over']),
  ];
}

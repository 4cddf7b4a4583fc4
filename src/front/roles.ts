/**
 * What somebody with a token may do. The owner may do everything. Others are what their entry says: a viewer sees everything and
 * changes nothing, an operator also starts, steers and answers; without a word they have what they spawned, and nothing else.
 */
export const givenRoles = ['viewer', 'operator', 'owner'] as const;
export type GivenRole = (typeof givenRoles)[number];
export type Role = GivenRole | 'caller';

/**
 * `look`: reads what is theirs. `work`: starts, answers, steers. `survey`: reads what is about the whole project. `direct`: works
 * with what belongs to the whole project, groups say. `keep`: what is the owner's alone.
 */
export type Deed = 'look' | 'work' | 'survey' | 'direct' | 'keep';

export const roleOfCaller = ({
  role,
  sees,
}: {
  readonly role?: GivenRole | undefined;
  readonly sees: 'everything' | 'own';
}): Role => role ?? (sees === 'everything' ? 'owner' : 'caller');

const DEEDS: Readonly<Record<Role, readonly Deed[]>> = {
  viewer: ['look', 'survey'],
  caller: ['look', 'work'],
  operator: ['look', 'work', 'survey', 'direct'],
  owner: ['look', 'work', 'survey', 'direct', 'keep'],
};

export const mayDo = (role: Role, deed: Deed): boolean => DEEDS[role].includes(deed);

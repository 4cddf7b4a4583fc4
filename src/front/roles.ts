/**
 * What somebody with a token may do. The owner may do everything. Others are what their entry says: a viewer sees everything and
 * changes nothing, an operator also starts, steers and answers; without a word they have what they spawned, and nothing else.
 */
export const givenRoles = ['viewer', 'operator', 'owner'] as const;
export type GivenRole = (typeof givenRoles)[number];
export type Role = GivenRole | 'caller';

/** `look`: reads. `work`: starts, answers, steers. `keep`: what is about the ledger as a whole. */
export type Deed = 'look' | 'work' | 'keep';

export const roleOfCaller = ({
  role,
  sees,
}: {
  readonly role?: GivenRole | undefined;
  readonly sees: 'everything' | 'own';
}): Role => role ?? (sees === 'everything' ? 'owner' : 'caller');

const DEEDS: Readonly<Record<Role, readonly Deed[]>> = {
  viewer: ['look'],
  caller: ['look', 'work'],
  operator: ['look', 'work'],
  owner: ['look', 'work', 'keep'],
};

export const mayDo = (role: Role, deed: Deed): boolean => DEEDS[role].includes(deed);

import { expect, it } from 'vitest';
import { completeDraft } from './complete-draft.ts';
import { draftOf } from './draft.ts';

it('says of what there is more where not all that fit are shown', async () => {
  const agents = async () => Array.from({ length: 23 }, (_none, index) => `worker${index + 10}`);
  const found = await completeDraft(draftOf('/agent w'), { workspace: '/nowhere', commands: [], agents });
  expect(found?.text).toBe('worker');
  expect(found?.choices.slice(19)).toEqual(['worker29', 'and 3 more that fit']);
});

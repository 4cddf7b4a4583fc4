import { expect, it } from 'vitest';
import { agent } from '../../test/support/world.ts';
import type { SessionId } from '../base/ids.ts';
import { ofSession } from './options.ts';

it('names of agents mean what they mean in the session', async () => {
  const session = 'ses_one' as SessionId;
  const saved = agent({ name: 'helper', description: 'as the group was made' });
  const options = {
    prompt: () => '',
    agent: async (name: string, of?: SessionId) => (of === session ? saved : agent({ name })),
  };
  expect(await ofSession(options, session).agent('helper')).toBe(saved);
  expect(await ofSession(options, 'ses_other' as SessionId).agent('helper')).not.toBe(saved);
});

/** Find a view, a session, a run or an agent, and go there. */
import { Command } from 'cmdk';
import { useLocation } from 'wouter';
import { post } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { shortened } from '../parts/ids.ts';
import { useAgents, useSessions } from '../store/hooks.ts';
import './palette.css';
import { addressOf, railPlaces } from './places.ts';

async function logOut(): Promise<void> {
  await post('/logout');
  location.assign('/');
}

export function Palette({ close }: { readonly close: () => void }) {
  const [, go] = useLocation();
  const sessions = useSessions();
  const agents = useAgents();
  const to = (address: string) => () => {
    close();
    go(address);
  };
  return (
    <Dialog title="Find" close={close} bare>
      <Command label="Find a view, a session or an agent" loop>
        <Command.Input className="palette-field" placeholder="A view, a session, an agent …" autoFocus />
        <Command.List className="palette-list">
          <Command.Empty className="palette-empty">Nothing of that name.</Command.Empty>
          <Command.Group heading="Views">
            {railPlaces.map((entry) => (
              <Command.Item key={entry.name} value={`view ${entry.title}`} onSelect={to(addressOf(entry))}>
                {entry.title}
              </Command.Item>
            ))}
          </Command.Group>
          <Command.Group heading="Acts">
            <Command.Item value="log out" onSelect={() => void logOut()}>
              Log out
            </Command.Item>
          </Command.Group>
          {sessions.state === 'there' && (
            <Command.Group heading="Sessions">
              {sessions.value.map(({ session, agent, prompt }) => (
                <Command.Item key={session} value={`${agent} ${prompt ?? ''} ${session}`} onSelect={to(`/sessions/${session}`)}>
                  <span className="cut">{prompt ?? agent}</span>
                  <span className="palette-side">
                    {agent} <code>{shortened(session)}</code>
                  </span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {agents.state === 'there' && (
            <Command.Group heading="Agents">
              {agents.value.map(({ name }) => (
                <Command.Item key={name} value={`agent ${name}`} onSelect={to(`/agents/${encodeURIComponent(name)}`)}>
                  {name}
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

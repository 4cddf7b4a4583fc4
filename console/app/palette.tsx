/** Find a view, a session, an agent or what was said in any session, and go there. */
import { Command, defaultFilter } from 'cmdk';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { visibleText } from '../../src/base/visible-text.ts';
import { post } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { shortened } from '../parts/ids.ts';
import { useAgents, useSessions } from '../store/hooks.ts';
import { type FoundEvents, useFoundEvents } from './found-events.ts';
import './palette.css';
import { addressOf, railPlaces } from './places.ts';

async function logOut(): Promise<void> {
  await post('/logout');
  location.assign('/');
}

const FOUND = 'found:';
const LEAST_SCORE = 0.000_001;

/** What the server has found fits, whatever its text; it comes behind what has the words in its name. */
const scoreOf = (value: string, search: string, keywords?: string[]): number =>
  value.startsWith(FOUND) ? LEAST_SCORE : defaultFilter(value, search, keywords);

interface Props {
  readonly close: () => void;
  readonly openDevice: () => void;
}

export function Palette({ close, openDevice }: Props) {
  const [, go] = useLocation();
  const [text, setText] = useState('');
  const sessions = useSessions();
  const agents = useAgents();
  const events = useFoundEvents(text);
  const to = (address: string) => () => {
    close();
    go(address);
  };
  return (
    <Dialog title="Find" close={close} bare>
      <Command label="Find a view, a session, an agent or what was said" loop filter={scoreOf}>
        <Command.Input
          className="palette-field"
          placeholder="A view, a session, an agent, words of any session …"
          value={text}
          onValueChange={setText}
          autoFocus
        />
        <Command.List className="palette-list">
          <Command.Empty className="palette-empty">{nothingText(events)}</Command.Empty>
          <Command.Group heading="Views">
            {railPlaces.map((entry) => (
              <Command.Item key={entry.name} value={`view ${entry.title}`} onSelect={to(addressOf(entry))}>
                {entry.title}
              </Command.Item>
            ))}
          </Command.Group>
          <Command.Group heading="Acts">
            <Command.Item value="log in another device, a phone" onSelect={openDevice}>
              Log in another device
            </Command.Item>
            <Command.Item value="log out" onSelect={() => void logOut()}>
              Log out
            </Command.Item>
          </Command.Group>
          {sessions.state === 'there' && (
            <Command.Group heading="Sessions">
              {sessions.value.map(({ session, agent, prompt }) => (
                <Command.Item key={session} value={`${agent} ${prompt ?? ''} ${session}`} onSelect={to(`/sessions/${session}`)}>
                  <span className="cut">{visibleText(prompt ?? agent)}</span>
                  <span className="palette-side">
                    {visibleText(agent)} <code>{shortened(session)}</code>
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
          {events.state === 'there' && events.found.length > 0 && (
            <Command.Group heading={events.complete ? 'In all sessions' : 'In all sessions, as far as they are read by now'}>
              {events.found.map(({ event, session, position, actor, text: said }) => (
                <Command.Item key={event} value={FOUND + event} onSelect={to(`/sessions/${session}?mode=full&event=${position}`)}>
                  <span className="cut">{visibleText(said)}</span>
                  <span className="palette-side">
                    {visibleText(actor)} <code>{shortened(session)}</code>
                  </span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

function nothingText(events: FoundEvents): string {
  if (events.state === 'asked') return 'Nothing of that name; what was said is searched …';
  if (events.state === 'refused') return `Nothing of that name; what was said was not searched: ${events.refusal.message}`;
  return events.state === 'there' ? 'Nothing of that name, and nobody said it.' : 'Nothing of that name.';
}

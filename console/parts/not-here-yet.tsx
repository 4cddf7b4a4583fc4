/** A view that this build does not have: the command that shows the same. */
import { SessionTabs } from './session-tabs.tsx';
import './styles/empty.css';

interface Props {
  readonly title: string;
  readonly command: string;
  /** The session and the name of the view, where it is one of a session. */
  readonly of?: { readonly session: string; readonly view: string };
}

export function NotHereYet({ title, command, of }: Props) {
  return (
    <>
      <header className="view-head">
        <h1>{title}</h1>
        {of !== undefined && <SessionTabs session={of.session} current={of.view} />}
      </header>
      <div className="empty">
        <p>This build of the console has no such view. The command line shows the same:</p>
        <pre>{command}</pre>
      </div>
    </>
  );
}

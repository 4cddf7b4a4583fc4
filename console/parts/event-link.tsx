/** To an event or a run of the session, at the moment that is looked at. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddresses } from '../app/query.ts';

interface ToEvent {
  readonly session: string;
  readonly event: number;
  readonly className?: string;
  /** Without any it is the number of the event. */
  readonly children?: ReactNode;
}

export function EventLink({ session, event, className, children }: ToEvent) {
  const address = useAddresses();
  return (
    <Link className={className} href={address(`/sessions/${session}`, { event: String(event) })}>
      {children ?? `event ${event}`}
    </Link>
  );
}

interface ToRun {
  readonly session: string;
  readonly run: string;
  readonly children: ReactNode;
}

export function RunLink({ session, run, children }: ToRun) {
  const address = useAddresses();
  return <Link href={address(`/sessions/${session}`, { run })}>{children}</Link>;
}

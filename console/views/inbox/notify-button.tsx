/** Whether this browser tells when something new waits. */
import { canNotify, useWanted, want } from '../../app/notices.ts';

export function NotifyButton() {
  const isOn = useWanted();
  if (!canNotify) return null;
  return (
    <button type="button" className="button quiet" aria-pressed={isOn} onClick={() => void want(!isOn)}>
      {isOn ? 'Notifies you' : 'Notify me'}
    </button>
  );
}

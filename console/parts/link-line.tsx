/** How the connection stands, in words, when it is not as it should be. */
import { useProjectLink } from '../store/hooks.ts';
import './styles/link-line.css';
import { When } from './when.tsx';

export function LinkLine() {
  const link = useProjectLink();
  if (link.state !== 'lost') return null;
  return (
    <p className="link-line" role="status">
      ‖ The server does not answer since <When at={link.since} />: what you see is from then. It is tried again by itself.
    </p>
  );
}

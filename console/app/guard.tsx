/** What breaks in one view stays there: the rest of the page goes on, and it says what to do. */
import { Component, type ReactNode } from 'react';
import { Trouble } from '../parts/trouble.tsx';

interface Props {
  readonly name: string;
  readonly children: ReactNode;
}

interface State {
  readonly broken: Error | undefined;
}

export class Guard extends Component<Props, State> {
  override state: State = { broken: undefined };

  static getDerivedStateFromError(broken: Error): State {
    return { broken };
  }

  override render(): ReactNode {
    const { broken } = this.state;
    if (broken === undefined) return this.props.children;
    return (
      <Trouble
        what={`${this.props.name} cannot be shown.`}
        fix="Load the page again; nothing that runs is touched by this. If it stays, the command line shows the same."
        more={broken.stack ?? broken.message}
      />
    );
  }
}

import { Link } from 'wouter';

export function NowhereView() {
  return (
    <div className="view-body">
      <h1>There is no such page</h1>
      <p>
        The address names nothing that the console shows. <Link href="/">The inbox</Link> has what needs you.
      </p>
    </div>
  );
}

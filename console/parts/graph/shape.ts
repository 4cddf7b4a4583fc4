/** A graph as it is drawn: what stands where it does is found out by a worker. */
export interface GraphNode {
  readonly id: string;
  readonly title: string;
  /** A second line: how it stands, how often, for how much. */
  readonly note: string;
  readonly tone: 'runs' | 'waits' | 'good' | 'bad' | 'quiet';
  readonly href?: string | undefined;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export const NODE_WIDTH = 180;
export const NODE_HEIGHT = 48;

export interface Placed {
  /** By the id of the node: its left upper corner. */
  readonly places: Readonly<Record<string, { readonly x: number; readonly y: number }>>;
}

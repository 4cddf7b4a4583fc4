/** Finds places for the nodes of a graph beside the page, which goes on meanwhile. */
import { placeNodes } from './place-nodes.ts';
import type { Graph } from './shape.ts';

self.onmessage = ({ data }: MessageEvent<Graph>) => self.postMessage(placeNodes(data));

import { extent } from '../support/extent'

// What Express and Node have a part in: bodies, queries, routers, guards, pages, connections. The rest is the same behind it.
const edge = [
  'authorization-request',
  'bodies',
  'client-authentication',
  'closing',
  'consent-page',
  'cors',
  'created-server',
  'decision',
  'endpoints',
  'error-pages',
  'events',
  'guard',
  'host-passport',
  'jwt-guard',
  'mac',
  'main-way',
  'past-network-limit',
  'protected-resource',
]

/** The tests that run on each version of Node and Express: the flows at the edge; in a long run the rules, too. */
export const atTheEdge: readonly string[] = [
  ...edge.map((name) => `test/flows/${name}.test.ts`),
  ...extent([], ['test/rules/']),
]

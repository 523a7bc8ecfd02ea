import { peers } from './peers'
import { floor, unguarded } from './stories/floor'
import { jwt } from './stories/jwt'
import { approvedAlready, ours } from './stories/ours'
import type { Stories } from './story'

/** One server that is measured. */
export interface Server {
  readonly name: string
  /** In `targets/`. */
  readonly program: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stories: Stories
  readonly role: 'floor' | 'ours' | 'peer'
}

const fast = { BENCH_SERVER: 'fast' }
/** What asks the same of Redis as it does on Node's own server. */
export function isOnCreateServer({ environment }: Server): boolean {
  return environment?.['BENCH_SERVER'] === fast.BENCH_SERVER
}

const guardOnly: Stories = { guard: ours.guard }

export const servers: readonly Server[] = [
  { name: 'node:http', program: 'node', stories: floor, role: 'floor' },
  { name: 'Express', program: 'express', stories: floor, role: 'floor' },
  { name: 'Express on createServer', program: 'express', environment: fast, stories: floor, role: 'floor' },
  { name: 'suite', program: 'ours', stories: ours, role: 'ours' },
  { name: 'suite on createServer', program: 'ours', environment: fast, stories: ours, role: 'ours' },
  {
    name: 'suite, approved already',
    program: 'ours',
    environment: { BENCH_APPROVED: 'yes' },
    stories: approvedAlready,
    role: 'ours',
  },
  {
    name: 'suite, approved already, on createServer',
    program: 'ours',
    environment: { ...fast, BENCH_APPROVED: 'yes' },
    stories: approvedAlready,
    role: 'ours',
  },
  { name: 'suite, unguarded route', program: 'ours', stories: unguarded, role: 'floor' },
  {
    name: 'suite on createServer, unguarded route',
    program: 'ours',
    environment: fast,
    stories: unguarded,
    role: 'floor',
  },
  {
    name: 'suite with cache on createServer',
    program: 'ours',
    environment: { ...fast, BENCH_CACHE: '10000' },
    stories: guardOnly,
    role: 'ours',
  },
  { name: 'suite, JWT', program: 'ours-jwt', stories: jwt, role: 'ours' },
  { name: 'suite, JWT on createServer', program: 'ours-jwt', environment: fast, stories: jwt, role: 'ours' },
  ...Object.entries(peers).map(([name, stories]) => ({
    name,
    program: name,
    stories,
    role: 'peer' as const,
  })),
]

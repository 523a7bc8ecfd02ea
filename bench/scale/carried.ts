import type { StoreCommand } from './store-commands'
import { rounded, type Table } from './table'

type Name = StoreCommand['name']

/** The microseconds that each command took of Redis, one of these for each column. */
export interface Measured {
  readonly title: string
  readonly costs: Readonly<Record<Name, number>>
}

const refresh: readonly Name[] = ['read', 'change']
const guard: readonly Name[] = ['read']

/** With the commands of each. */
const operations: Readonly<Record<string, readonly Name[]>> = {
  'client credentials': ['create'],
  'code flow, in one process': ['create', 'change', 'change'],
  'code flow, each request at another process': ['create', 'read', 'change', 'read', 'change'],
  refresh,
  guard,
}

/** What one authorization asks for, a second. */
const lives: Readonly<
  Record<string, readonly { readonly commands: readonly Name[]; readonly perSecond: number }[]>
> = {
  'a refresh an hour, guards with a cache': [{ commands: refresh, perSecond: 1 / 3600 }],
  'a refresh an hour, a guarded request a minute': [
    { commands: refresh, perSecond: 1 / 3600 },
    { commands: guard, perSecond: 1 / 60 },
  ],
  'a refresh an hour, a guarded request a second': [
    { commands: refresh, perSecond: 1 / 3600 },
    { commands: guard, perSecond: 1 },
  ],
}

/** Operations a second that take the whole core of Redis. */
export function operationsCarried(measured: readonly Measured[]): Table {
  return {
    name: 'one-primary',
    columns: ['operation', 'commands', ...measured.map(({ title }) => `a second, ${title}`)],
    rows: Object.entries(operations).map(([operation, commands]) =>
      [operation, commands.join(', ')].concat(
        measured.map((packet) => rounded(1e6 / microseconds(commands, packet))),
      ),
    ),
  }
}

/** Authorizations whose commands take half of the core of Redis. */
export function authorizationsCarried(measured: readonly Measured[]): Table {
  return {
    name: 'authorizations',
    columns: ['each has', ...measured.map(({ title }) => `authorizations, ${title}`)],
    rows: Object.entries(lives).map(([life, parts]) =>
      [life].concat(
        measured.map((packet) => {
          const each = parts.map(({ commands, perSecond }) => microseconds(commands, packet) * perSecond)
          return rounded(0.5e6 / each.reduce((sum, part) => sum + part, 0))
        }),
      ),
    ),
  }
}

function microseconds(commands: readonly Name[], { costs }: Measured): number {
  return commands.reduce((sum, name) => sum + costs[name], 0)
}

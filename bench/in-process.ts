import type { Server } from 'node:http'
import { KeptConnection } from './connection'
import { countsOf } from './counting'
import { pipe } from './pipe'
import {
  programsInProcess,
  rows,
  type CountInProcess,
  type RoundInProcess,
  type Row,
} from './programs-in-process'
import type { Connection } from './story'
import { memory } from './storage/records'
import { port, tell } from './target'

// The system is asked for the time between them.
const operationsAtOnce = 8

/** Over a connection in memory, this process asks its own server. The port is for a guard that asks it, too. */
export function serveInProcess(server: Server, name: string): void {
  const [end, serverEnd] = pipe()
  server.emit('connection', serverEnd)
  const connection = new Counted(KeptConnection.over(end))
  const operations = new Map<Row, () => Promise<void>>()
  process.on('message', async ({ row, ...asked }: CountInProcess | RoundInProcess) => {
    // Else one row would push out what another one needs.
    memory?.changeTo(row)
    if (!('milliseconds' in asked))
      return tell({ kind: 'counts', ...(await countsOf(() => prepared(name, row, connection))) })
    const operation = operations.get(row) ?? (await prepared(name, row, connection))
    operations.set(row, operation)
    await round(operation, asked.milliseconds, connection)
  })
  process.on('disconnect', () => process.exit())
  server.listen(port, '127.0.0.1', () => tell({ kind: 'ready' }))
}

async function prepared(name: string, row: Row, connection: Connection): Promise<() => Promise<void>> {
  const stories = programsInProcess[name]?.stories ?? {}
  const story = rows[row].map((workload) => stories[workload]).find((found) => found !== undefined)
  if (story === undefined) throw new Error(`${name} has no ${row}.`)
  return story(connection)
}

async function round(operation: () => Promise<void>, milliseconds: number, asked: Counted): Promise<void> {
  const requestsBefore = asked.requests
  const before = process.cpuUsage()
  let operations = 0
  let used = 0
  while (used < milliseconds * 1000) {
    for (let turn = 0; turn < operationsAtOnce; turn += 1) await operation()
    operations += operationsAtOnce
    const { user, system } = process.cpuUsage(before)
    used = user + system
  }
  tell({
    kind: 'round',
    cpu: used / operations,
    requests: (asked.requests - requestsBefore) / operations,
  })
}

class Counted implements Connection {
  requests = 0

  constructor(private readonly connection: Connection) {}

  ask(text: string) {
    this.requests += 1
    return this.connection.ask(text)
  }
}

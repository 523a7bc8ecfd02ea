import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startFaultyNetwork, type FaultyNetwork } from '../support/faulty-network'
import { startRedis, type RedisServer } from '../support/redis-server'
import { waitUntil } from '../support/wait-until'
import type { Stage } from './stage'

/** One Redis that keeps what it acknowledges, a replica of it when asked for, and a network that can fail. */
export class SingleStage implements Stage {
  private replica: RedisServer | undefined

  private constructor(
    private directory: string,
    private server: RedisServer,
    readonly network: FaultyNetwork,
  ) {}

  static async start(): Promise<SingleStage> {
    const directory = newDirectory()
    const server = await startRedis({ own: true, extraArguments: durable(directory) })
    return new SingleStage(directory, server, await startFaultyNetwork(server.port))
  }

  get plan(): { readonly url: string } {
    return { url: this.network.url }
  }

  /** Sends the server a signal. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    await this.server.kill(signal)
  }

  /** Starts it again where it was, after it was killed. */
  async restart(data: 'kept' | 'lost'): Promise<void> {
    const { port } = this.server
    await this.server.stop()
    if (data === 'lost') {
      rmSync(this.directory, { recursive: true })
      this.directory = newDirectory()
    }
    this.server = await startRedis({ port, extraArguments: durable(this.directory) })
  }

  /** Tells the server something, around the network. */
  async tell(command: string, ...words: string[]): Promise<unknown> {
    return told(this.server, command, ...words)
  }

  async addReplica(): Promise<void> {
    const words = ['--replicaof', '127.0.0.1', String(this.server.port)]
    await this.tell('CONFIG', 'SET', 'repl-diskless-sync-delay', '0')
    this.replica = await startRedis({ own: true, extraArguments: words })
    await waitUntil('the replica follows', async () =>
      String(await this.tell('INFO', 'replication')).includes('state=online'),
    )
  }

  /** Swaps server and replica without loss. Open connections stay with the old one, as those to a name in DNS do. */
  async switchOver(): Promise<void> {
    const { server: old, replica: next } = this
    if (next === undefined) throw new Error('There is no replica.')
    await this.tell('FAILOVER', 'TO', '127.0.0.1', String(next.port))
    await waitUntil('the replica has taken over', async () =>
      String(await told(next, 'ROLE')).startsWith('master'),
    )
    this.network.leadTo(next.port)
    this.server = next
    this.replica = old
  }

  async stop(): Promise<void> {
    await this.network.stop()
    await Promise.all([this.server.stop(), this.replica?.stop()])
    rmSync(this.directory, { recursive: true, force: true })
  }
}

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'redis-data-'))

const durable = (directory: string): readonly string[] => [
  ...['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always'],
]

/** One command on a connection of its own. */
export async function told(server: RedisServer, command: string, ...words: string[]): Promise<unknown> {
  const client = new Redis(server.url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  try {
    return await client.call(command, ...words)
  } finally {
    client.disconnect()
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startFaultyNetwork, type FaultyNetwork } from '../../support/faulty-network'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { waitUntil } from '../../support/wait-until'
import type { Stage } from './stage'

/** A server, and where it keeps what it acknowledges. */
interface Place {
  readonly server: RedisServer
  readonly directory: string
}

/** One Redis that keeps what it acknowledges, a replica of it when asked for, and networks that can fail. */
export class SingleStage implements Stage {
  private replica: Place | undefined

  private constructor(
    private master: Place,
    readonly networks: readonly [FaultyNetwork, FaultyNetwork],
  ) {}

  static async start(): Promise<SingleStage> {
    const master = await startAt(newDirectory(), { own: true })
    const { port } = master.server
    return new SingleStage(master, [await startFaultyNetwork(port), await startFaultyNetwork(port)])
  }

  /** The network of all processes but those that are told to take the other one. */
  get network(): FaultyNetwork {
    return this.networks[0]
  }

  /** The server that takes writes. */
  get server(): RedisServer {
    return this.master.server
  }

  /** The server that follows it. */
  get follower(): RedisServer | undefined {
    return this.replica?.server
  }

  get plan(): { readonly url: string } {
    return { url: this.network.url }
  }

  ping(): Promise<unknown> {
    const places = [this.master, ...(this.replica === undefined ? [] : [this.replica])]
    return Promise.allSettled(places.map(({ server }) => sendCommand(server, 'PING')))
  }

  /** Sends the server a signal. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    await this.master.server.kill(signal)
  }

  /** Starts it again where it was, after it was killed. */
  async restart(data: 'kept' | 'lost'): Promise<void> {
    const { server, directory } = this.master
    await server.stop()
    if (data === 'lost') rmSync(directory, { recursive: true })
    this.master = await startAt(data === 'lost' ? newDirectory() : directory, { port: server.port })
  }

  /** Tells the server something, around the network. */
  async sendCommand(command: string, ...words: string[]): Promise<unknown> {
    return sendCommand(this.master.server, command, ...words)
  }

  /** A new replica; what an earlier switch left behind goes. */
  async addReplica(): Promise<void> {
    await stopAt(this.replica)
    await this.sendCommand('CONFIG', 'SET', 'repl-diskless-sync-delay', '0')
    this.replica = await startAt(newDirectory(), { own: true }, this.following())
    await this.isFollowed()
  }

  private following(): readonly string[] {
    return ['--replicaof', '127.0.0.1', String(this.master.server.port)]
  }

  async isFollowed(): Promise<void> {
    await waitUntil('the replica follows', async () =>
      String(await this.sendCommand('INFO', 'replication')).includes('state=online'),
    )
  }

  /**
   * Makes the replica a master, without the consent of its master: that one is dead, or does not hear of it. Open
   * connections stay where they are.
   */
  async promote(): Promise<void> {
    const { master: old, replica: next } = this
    if (next === undefined) throw new Error('There is no replica.')
    await sendCommand(next.server, 'REPLICAOF', 'NO', 'ONE')
    for (const network of this.networks) network.leadTo(next.server.port)
    this.master = next
    this.replica = old
  }

  /** What was left behind follows the master, after a restart if it was killed. */
  async rejoin(state: 'alive' | 'killed'): Promise<void> {
    const { replica } = this
    if (replica === undefined) throw new Error('There is no replica.')
    const { server, directory } = replica
    await this.sendCommand('CONFIG', 'SET', 'repl-diskless-sync-delay', '0')
    if (state === 'alive')
      await sendCommand(server, 'REPLICAOF', '127.0.0.1', String(this.master.server.port))
    else {
      await server.stop()
      this.replica = { directory, server: await startAgain(replica, this.following()) }
    }
    await this.isFollowed()
  }

  /** Swaps server and replica without loss. Open connections stay with the old one, as those to a name in DNS do. */
  async switchOver(): Promise<void> {
    const { master: old, replica: next } = this
    if (next === undefined) throw new Error('There is no replica.')
    const { server } = next
    await this.sendCommand('FAILOVER', 'TO', '127.0.0.1', String(server.port))
    await waitUntil('the replica has taken over', async () =>
      String(await sendCommand(server, 'ROLE')).startsWith('master'),
    )
    for (const network of this.networks) network.leadTo(server.port)
    this.master = next
    this.replica = old
  }

  /** Makes what was left behind follow nobody: it answers what is read from it, and hears of nothing any more. */
  async cutOff(): Promise<void> {
    if (this.replica === undefined) throw new Error('There is no replica.')
    await sendCommand(this.replica.server, 'REPLICAOF', '127.0.0.1', '1')
  }

  async stop(): Promise<void> {
    await Promise.all(this.networks.map((network) => network.stop()))
    await Promise.all([stopAt(this.master), stopAt(this.replica)])
  }
}

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'redis-data-'))

async function startAt(
  directory: string,
  where: { readonly own: true } | { readonly port: number },
  words: readonly string[] = [],
): Promise<Place> {
  const durable = ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always']
  return { directory, server: await startRedis({ ...where, extraArguments: [...durable, ...words] }) }
}

const startAgain = async ({ server: { port }, directory }: Place, words: readonly string[]) =>
  (await startAt(directory, { port }, words)).server

async function stopAt(place: Place | undefined): Promise<void> {
  if (place === undefined) return
  await place.server.stop()
  rmSync(place.directory, { recursive: true, force: true })
}

/** One command on a connection of its own. */
export async function sendCommand(
  server: RedisServer,
  command: string,
  ...words: string[]
): Promise<unknown> {
  const client = new Redis(server.url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  try {
    return await client.call(command, ...words)
  } finally {
    client.disconnect()
  }
}

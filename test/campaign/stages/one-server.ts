import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFaultyNetwork, type FaultyNetwork } from '../../support/faulty-network'
import { startRedis, type RedisServer } from '../../support/redis-server'
import type { StorePlan } from '../../support/store-plan'
import { waitUntil } from '../../support/wait-until'
import { type RedisStage, replicaWait, sendCommand } from './stage'

/** A server, and where it keeps what it acknowledges. */
interface Place {
  readonly server: RedisServer
  readonly directory: string
}

/** One Redis that keeps what it acknowledges, or a master and a replica; and networks that can fail. */
export class OneServer implements RedisStage {
  private replica: Place | undefined

  private constructor(
    private master: Place,
    private readonly networks: readonly [FaultyNetwork, FaultyNetwork],
  ) {}

  static async start(hasReplica: boolean): Promise<OneServer> {
    const master = await startAt(newDirectory())
    const { port } = master.server
    const stage = new OneServer(master, [await startFaultyNetwork(port), await startFaultyNetwork(port)])
    if (hasReplica) stage.replica = await startAt(newDirectory(), undefined, stage.following())
    await stage.isWhole()
    return stage
  }

  plansFor(prefix: string, waits: boolean): readonly [StorePlan, StorePlan] {
    const wait = waits ? { waitForReplicas: replicaWait } : {}
    const planOver = ({ url }: FaultyNetwork): StorePlan => ({ url, prefix, ...wait })
    return [planOver(this.networks[0]), planOver(this.networks[1])]
  }

  get ways(): readonly [readonly FaultyNetwork[], readonly FaultyNetwork[]] {
    return [[this.networks[0]], [this.networks[1]]]
  }

  /** The server that takes writes. */
  get server(): RedisServer {
    return this.master.server
  }

  private get follower(): Place {
    if (this.replica === undefined) throw new Error('There is no replica.')
    return this.replica
  }

  async masters(): Promise<readonly RedisServer[]> {
    return [this.server]
  }

  async empty(): Promise<void> {
    await this.tell('FLUSHALL')
  }

  /** Tells the server something, around the network. */
  tell(command: string, ...words: string[]): Promise<unknown> {
    return sendCommand(this.server, command, ...words)
  }

  signalReplica(signal: NodeJS.Signals): Promise<void> {
    return this.follower.server.kill(signal)
  }

  /** Starts it again where it was, after it was killed. */
  async restart(data: 'kept' | 'lost'): Promise<void> {
    const { server, directory } = this.master
    await server.stop()
    if (data === 'lost') rmSync(directory, { recursive: true })
    this.master = await startAt(data === 'lost' ? newDirectory() : directory, server.port)
  }

  private following(): readonly string[] {
    return ['--replicaof', '127.0.0.1', String(this.server.port)]
  }

  async isWhole(): Promise<void> {
    if (this.replica === undefined) return
    await waitUntil('the replica follows', async () =>
      String(await this.tell('INFO', 'replication')).includes('state=online'),
    )
  }

  /**
   * Makes the replica a master, without the consent of its master: that one is dead, or does not hear of it. Open
   * connections stay where they are.
   */
  async promote(): Promise<void> {
    await sendCommand(this.follower.server, 'REPLICAOF', 'NO', 'ONE')
    this.swap()
  }

  /** Swaps server and replica without loss. Open connections stay with the old one, as those to a name in DNS do. */
  async switchOver(): Promise<void> {
    const { server } = this.follower
    await this.tell('FAILOVER', 'TO', '127.0.0.1', String(server.port))
    await waitUntil('the replica has taken over', async () =>
      String(await sendCommand(server, 'ROLE')).startsWith('master'),
    )
    this.swap()
  }

  private swap(): void {
    const next = this.follower
    for (const network of this.networks) network.leadTo(next.server.port)
    this.replica = this.master
    this.master = next
  }

  /** What was left behind follows the master, after a restart if it was killed. */
  async rejoin(state: 'alive' | 'killed'): Promise<void> {
    const { server, directory } = this.follower
    if (state === 'alive') await sendCommand(server, 'REPLICAOF', '127.0.0.1', String(this.server.port))
    else {
      await server.stop()
      this.replica = await startAt(directory, server.port, this.following())
    }
    await this.isWhole()
  }

  async stop(): Promise<void> {
    await Promise.all(this.networks.map((network) => network.stop()))
    for (const { server, directory } of [this.master, this.replica].flatMap((place) => place ?? [])) {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'redis-data-'))

const durable = '--appendonly yes --appendfsync always --repl-diskless-sync-delay 0'.split(' ')

async function startAt(directory: string, port?: number, words: readonly string[] = []): Promise<Place> {
  const where = port === undefined ? { own: true } : { port }
  const extraArguments = ['--dir', directory, ...durable, ...words]
  return { directory, server: await startRedis({ ...where, extraArguments }) }
}

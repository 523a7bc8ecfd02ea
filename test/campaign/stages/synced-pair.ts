import { postgresSchema } from 'express-authorization-server/postgres'
import { Pool } from 'pg'
import { type FaultyNetwork, startFaultyNetwork } from '../../support/faulty-network'
import { type PostgresServer, startPostgres } from '../../support/postgres-server'
import type { StorePlan } from '../../support/store-plan'
import { waitUntil } from '../../support/wait-until'
import type { Stage } from './stage'

const schema = 'oauth'
const tables = [`${schema}.oauth_records`, `${schema}.oauth_records_counts`].join()

/** A primary and its standby, and networks that can fail. */
export class SyncedPair implements Stage {
  /** Whether the primary acknowledges what the standby has, and nothing else. */
  waits = false
  /** Where the standby finds its primary. */
  private place = ''

  private constructor(
    public primary: PostgresServer,
    private standby: PostgresServer,
    private readonly networks: readonly [FaultyNetwork, FaultyNetwork],
  ) {}

  static async start(): Promise<SyncedPair> {
    const primary = await startPostgres()
    await ask(primary, `create schema ${schema}; ${postgresSchema({ schema })}`)
    const standby = await startPostgres(primary)
    const network = () => startFaultyNetwork(primary.port, { isOfRedis: false })
    const pair = new SyncedPair(primary, standby, [await network(), await network()])
    await pair.isWhole()
    return pair
  }

  async plansFor(_prefix: string, waits: boolean): Promise<readonly [StorePlan, StorePlan]> {
    this.waits = waits
    await this.setWaiting(waits)
    await this.isWhole()
    const planOver = ({ url }: FaultyNetwork): StorePlan => ({
      postgres: url.replace('redis://', 'postgres://postgres@').concat('/postgres'),
      schema,
    })
    return [planOver(this.networks[0]), planOver(this.networks[1])]
  }

  get ways(): readonly [readonly FaultyNetwork[], readonly FaultyNetwork[]] {
    return [[this.networks[0]], [this.networks[1]]]
  }

  async isWhole(): Promise<void> {
    const state = this.waits ? 'sync' : 'async'
    await waitUntil(`the standby follows, ${state}`, async () =>
      isOne(await ask(this.primary, `select from pg_stat_replication where sync_state = '${state}'`)),
    )
  }

  /** A moment: whatever the primary acknowledged before it, the standby has. */
  async acknowledgedBefore(): Promise<number> {
    const moment = performance.now()
    const [row] = await ask(this.primary, 'select pg_current_wal_lsn() as written')
    await waitUntil('the standby has caught up', async () =>
      isOne(
        await ask(
          this.primary,
          `select from pg_stat_replication where flush_lsn >= '${String(row?.['written'])}'`,
        ),
      ),
    )
    return moment
  }

  async endConnections(): Promise<void> {
    await ask(
      this.primary,
      `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
  }

  /** Starts the primary again where it was, after it was killed. */
  async restart(): Promise<void> {
    this.primary = await this.primary.restart()
    await this.isWhole()
  }

  /** From now on the standby gets no more changes. */
  async cutOff(): Promise<void> {
    const [row] = await ask(this.standby, 'show primary_conninfo')
    this.place = String(row?.['primary_conninfo'])
    await this.follow('')
    await waitUntil(
      'the standby is cut off',
      async () => !isOne(await ask(this.primary, 'select from pg_stat_replication')),
    )
  }

  async mend(): Promise<void> {
    await this.follow(this.place)
    await this.isWhole()
  }

  /** The primary dies, and the standby takes over: alone, so it waits for nobody. */
  async failOver(): Promise<void> {
    await this.primary.stop()
    await ask(this.standby, 'select pg_promote()')
    this.primary = this.standby
    for (const network of this.networks) network.leadTo(this.primary.port)
  }

  /** A new standby follows what was promoted. */
  async pairAgain(): Promise<void> {
    this.standby = await startPostgres(this.primary)
    await this.setWaiting(this.waits)
    await this.isWhole()
  }

  async empty(): Promise<void> {
    await ask(this.primary, `truncate ${tables}`)
  }

  async stop(): Promise<void> {
    await Promise.all(this.networks.map((network) => network.stop()))
    for (const server of [this.primary, this.standby]) await server.stop()
  }

  // The standby keeps its own setting: once it is promoted, it waits for nobody.
  private async setWaiting(waits: boolean): Promise<void> {
    await configure(this.primary, 'synchronous_standby_names', waits ? '*' : '')
  }

  private follow(place: string): Promise<void> {
    return configure(this.standby, 'primary_conninfo', place)
  }
}

async function configure(server: PostgresServer, name: string, value: string): Promise<void> {
  await ask(server, `alter system set ${name} = '${value.replaceAll("'", "''")}'`)
  await ask(server, 'select pg_reload_conf()')
}

const isOne = (rows: readonly object[]): boolean => rows.length === 1

/** Some SQL on a connection of its own, which waits for no standby. */
async function ask(
  { url }: PostgresServer,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const pool = new Pool({ connectionString: url, max: 1, options: '-c synchronous_commit=local' })
  pool.on('error', () => {})
  try {
    return (await pool.query(sql)).rows
  } finally {
    await pool.end()
  }
}

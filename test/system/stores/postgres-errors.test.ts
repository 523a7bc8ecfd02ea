import { inspect } from 'node:util'
import type { Pool } from 'pg'
import { postgresSchema, postgresStore, type PostgresPool } from 'express-authorization-server/postgres'
import { ConfigurationError } from '../../../lib/index'
import { withPostgres } from '../../support/stores/postgres-under-test'
import { random22 } from '../../support/stores/records'
import { mistakesOf } from '../../support/mistakes-of'

const postgres = withPostgres()

const secret = 'K7mq-secret-of-a-token'
const failureOf = async (act: Promise<unknown>): Promise<unknown> =>
  act.then(
    () => 'it did not fail',
    (error: unknown) => error,
  )
const everything = (error: unknown) => inspect(error, { depth: 9, showHidden: true })
const failing = (reason: unknown): PostgresPool => ({ query: () => Promise.reject(reason) })
const answering = (answer: unknown): PostgresPool => ({
  query: async () => JSON.parse(JSON.stringify({ answer })).answer,
})
const verbs = (pool: PostgresPool) => {
  const store = postgresStore({ pool })
  const version = random22()
  return [
    () => store.read(secret),
    () => store.write(secret, secret, { version }),
    () => store.write(secret, secret, { version, expected: version }),
    () => store.remove(secret),
    () => store.add(secret, 1, 60),
    () => store.list('client'),
    () => store.check(),
  ]
}

describe('an error of postgresStore', () => {
  it.each([
    ['22P02', `invalid input syntax for type bigint: "${secret}"`, /^SQLSTATE 22P02$/],
    ['P0001', `The trigger says ${secret}`, /^SQLSTATE P0001$/],
    ['XX000', secret, /^SQLSTATE XX000$/],
    ['57P03', 'the database system is starting up', /^the database system is starting up$/],
    [
      '42501',
      'permission denied for table oauth_records',
      /^permission denied for table oauth_records: grant SELECT, INSERT, UPDATE and DELETE on both tables to the role\.$/,
    ],
    ['26000', 'prepared statement "oauth_x" does not exist', /A pooler must keep prepared statements/],
    [
      '42P01',
      'relation "oauth_records" does not exist',
      /"oauth_records" and "oauth_records_counts".*npx express-authorization-server migrate/,
    ],
    ['ECONNRESET', `read ECONNRESET ${secret}`, /^The pool has no connection: ECONNRESET$/],
    ['', 'Query read timeout', /^Query read timeout$/],
    ['', 'timeout exceeded when trying to connect', /^timeout exceeded when trying to connect$/],
    ['', `Failed query: insert … params: ${secret}`, /may quote a value/],
    [secret, secret, /may quote a value/],
  ])('says what PostgreSQL or the pool said, without a key or value: %s %s', async (code, message, said) => {
    const details = {
      detail: `Key (key)=(${secret})`,
      where: secret,
      hint: secret,
      parameters: [secret],
      query: secret,
    }
    const cause = new Error(secret)
    for (const act of verbs(failing(Object.assign(new Error(message, { cause }), details, { code })))) {
      const failure = await failureOf(act())
      expect(everything(failure)).not.toContain(secret)
      expect(failure).toMatchObject({ message: expect.stringMatching(said) })
    }
  })

  it.each([secret, undefined, { message: 7 }])(
    'is one also where the pool rejects with %j',
    async (reason) => {
      for (const act of verbs(failing(reason))) {
        const failure = await failureOf(act())
        expect(failure).toMatchObject({ message: expect.stringContaining('may quote a value') })
        expect(everything(failure)).not.toContain(secret)
      }
    },
  )

  it('of a real trigger or constraint holds no value', async () => {
    const pool = postgres.pool()
    await pool.query(postgresSchema({ table: 'strict' }))
    await pool.query(`alter table strict add check (key <> '${secret}')`)
    await pool.query(`create function refuse() returns trigger language plpgsql as $$ begin
      raise exception 'no %', new.key using detail = new.key; end $$`)
    await pool.query(
      'create trigger refuse before insert on strict_counts for each row execute function refuse()',
    )
    const store = postgresStore({ pool, table: 'strict' })
    const failures = await Promise.all([failureOf(store.remove(secret)), failureOf(store.add(secret, 1, 60))])
    expect(failures).toMatchObject([
      { message: 'SQLSTATE 23514', code: '23514' },
      { message: 'SQLSTATE P0001' },
    ])
    for (const failure of failures) expect(everything(failure)).not.toContain(secret)
  })

  it('at tables that are not there names the command that makes them', async () => {
    const store = postgresStore({ pool: postgres.pool(), schema: 'nowhere', table: 'gone' })
    expect(await failureOf(store.check())).toMatchObject({
      message:
        'PostgreSQL does not have the tables "nowhere"."gone" and "nowhere"."gone_counts", or they have other columns: make them with "npx express-authorization-server migrate".',
    })
  })
})

describe('a pool that replies with something else', () => {
  it.each([
    ['nothing', undefined],
    ['no rows', { rowCount: 1 }],
    ['rows that are lists', { rows: [['x']] }],
    ['text in place of rows', { rows: 'OK' }],
  ])('fails, and does not look like an empty store: %s', async (_what, answer) => {
    for (const act of verbs(answering(answer)))
      expect(await failureOf(act())).toMatchObject({
        message: expect.stringMatching(/^The pool replied with something other than/),
      })
  })

  it.each<[string, unknown, number[]]>([
    ['other columns', { rows: [{ x: 1 }] }, [0, 1, 2, 4, 5, 6]],
    ['a value that is no bytes', { rows: [{ value: '\\x31', version: 'x' }] }, [0]],
    ['a version that is no text', { rows: [{ value: '1', version: 1 }] }, [0]],
    ['a count that is no number', { rows: [{ count: 'many', left: '1' }] }, [4]],
    ['a time that is no number', { rows: [{ reply: 'noon' }] }, [1, 2]],
    ['an unknown outcome', { rows: [{ reply: null }] }, [1, 2]],
    ['no row where there is always one', { rows: [] }, [1, 4, 6]],
  ])('fails with a sentence: %s', async (_what, answer, which) => {
    const acts = verbs(answering(answer))
    for (const at of which)
      expect(await failureOf(acts[at]?.() ?? Promise.resolve())).toMatchObject({
        message: expect.stringMatching(/^The pool replied with|^The record was not created/),
      })
  })
})

describe('postgresStore', () => {
  it('names each mistake in its options, with its cure', () => {
    const maker = { make: (options: unknown) => Reflect.apply(postgresStore, undefined, [options]) }
    expect(mistakesOf(maker, undefined)).toMatchObject([{ path: 'options' }, { path: 'pool' }])
    expect(mistakesOf(maker, {})).toEqual([
      { path: 'pool', message: 'is missing: it must have the function query, as the Pool of pg has.' },
    ])
    expect(mistakesOf(maker, { pool: {}, schema: '', table: 'a\u0000', tabel: 1 })).toMatchObject([
      { path: 'schema' },
      { path: 'table' },
      { path: 'pool' },
      { path: 'tabel', message: expect.stringContaining('Did you mean table?') },
    ])
    expect(() => postgresSchema({ table: 'ä' })).toThrow(ConfigurationError)
  })

  it.each([
    [
      { connectionString: 'postgres://eve:s3cret@db.example:6543/x?sslmode=require' },
      'PostgreSQL at db.example:6543',
    ],
    [{ connectionString: 'postgres://eve:s3cret@db.example/x' }, 'PostgreSQL at db.example:5432'],
    [{ host: '/var/run/postgresql' }, 'PostgreSQL at /var/run/postgresql:5432'],
    [{ host: 'db', port: 7000, user: 'eve', password: 's3cret' }, 'PostgreSQL at db:7000'],
    [{ connectionString: 'host=db password=s3cret' }, 'PostgreSQL'],
    [undefined, 'PostgreSQL'],
  ])('says where its database is, never with a password: %j', (options, place) => {
    const pool = Object.assign(answering({}), { options })
    expect(postgresStore({ pool }).place).toBe(place)
  })

  describe('checks its surroundings', () => {
    const codes = async (pool: Pool) => (await postgresStore({ pool }).check()).map(({ code }) => code)
    const timeouts = { connectionTimeoutMillis: 1000, query_timeout: 5000 }
    afterEach(() => jest.restoreAllMocks())

    it('and finds nothing where all is well', async () => {
      expect(await codes(postgres.open(timeouts))).toEqual([])
    })

    it('and warns of a pool that waits for ever', async () => {
      const [warning] = await postgresStore({ pool: postgres.open({ query_timeout: 1000 }) }).check()
      expect(warning).toMatchObject({
        code: 'EAS_POSTGRES_TIMEOUT',
        message: expect.stringContaining('no connectionTimeoutMillis:'),
      })
    })

    it('and warns where what is acknowledged may be lost', async () => {
      expect(await codes(postgres.open({ ...timeouts, options: '-c synchronous_commit=off' }))).toEqual([
        'EAS_POSTGRES_COMMIT',
      ])
    })

    it.each([
      [-6000, '6 s behind that of PostgreSQL'],
      [6000, '6 s ahead of that of PostgreSQL'],
    ])('and warns of a clock that is %i ms off', async (off, said) => {
      const now = Date.now
      jest.spyOn(Date, 'now').mockImplementation(() => now() + off)
      const warnings = await postgresStore({ pool: postgres.open(timeouts) }).check()
      expect(warnings).toMatchObject([{ code: 'EAS_POSTGRES_CLOCK', message: expect.stringContaining(said) }])
    })
  })
})

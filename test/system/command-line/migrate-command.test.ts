import { Pool } from 'pg'
import { postgresSchema, postgresStore } from 'express-authorization-server/postgres'
import { run } from '../../../lib/command-line/run'
import { commandLine } from '../../support/command-line'
import { type PostgresServer, startPostgres } from '../../support/postgres-server'
import { random22 } from '../../support/stores/records'

let server: PostgresServer
let pool: Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool({ connectionString: server.url })
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

const migrate = (words: readonly string[] = [], environment: NodeJS.ProcessEnv = { STORE_URL: server.url }) =>
  run(['migrate', ...words], environment)
const place = () => `PostgreSQL at 127.0.0.1:${server.port}`

/** All that the database knows of tables and indexes. */
const catalogue = async () =>
  (
    await pool.query(
      `select oid, xmin, relname, relfilenode from pg_class where relnamespace > 16000 or relname like '%oauth%' order by oid`,
    )
  ).rows

test('migrate makes the tables and says so in a line; a second run changes nothing, and says so', async () => {
  expect(await commandLine(['migrate'], { STORE_URL: server.url })).toEqual({
    status: 0,
    stdout: `Made "oauth_records" and "oauth_records_counts" in ${place()}.\n`,
    stderr: '',
  })
  const before = await catalogue()
  expect(before.length).toBeGreaterThan(4)
  expect(await migrate()).toEqual({
    status: 0,
    output: `"oauth_records" and "oauth_records_counts" are in ${place()}: nothing changed.`,
    remarks: '',
  })
  expect(await catalogue()).toEqual(before)
  const store = postgresStore({ pool })
  expect(await store.write('client:a', '{}', { version: random22() })).toBe(true)
  await migrate()
  expect(await store.list('client')).toEqual(['a'])
})

test('migrate makes tables of another name in a schema, also four times at once; --print says the same SQL', async () => {
  await pool.query('create schema "the host"')
  const tables = { schema: 'the host', table: 'grants' }
  const words = ['--store', `${server.url}?schema=the%20host&table=grants`]
  const printed = await migrate([...words, '--print'], {})
  expect(printed).toEqual({ status: 0, output: postgresSchema(tables).trimEnd(), remarks: '' })
  const runs = await Promise.all([1, 2, 3, 4].map(() => migrate([...words, '--json'], {})))
  expect(runs.map(({ status, remarks }) => [status, remarks])).toEqual(runs.map(() => [0, '']))
  expect(runs.map(({ output }) => JSON.parse(output).place)).toEqual(runs.map(place))
  const before = await catalogue()
  await pool.query(printed.output)
  expect(await catalogue()).toEqual(before)
  expect(await postgresStore({ pool, ...tables }).write('a', '{}', { version: random22() })).toBe(true)
})

type Url = (own: string) => string
const own: Url = (url) => url
const unset: Url = () => ''

test.each<[string, words: readonly string[], url: Url, status: number, remarks: RegExp]>([
  ['there is no URL', [], unset, 2, /--store must be a URL such as .* STORE_URL/],
  ['the URL is of another database', [], () => 'mysql://:s3cret@localhost', 2, /--store begins with mysql:/],
  ['a flag is empty', ['--store', ''], own, 2, /--store needs a value/],
  ['a name is too long', [], (url) => `${url}?table=${'x'.repeat(51)}`, 1, /table must be a name of 1 to 50/],
  ['the schema is not there', [], (url) => `${url}?schema=none`, 1, /schema "none" does not exist/],
  ['another table has the name', [], (url) => `${url}?table=own`, 1, /"ends" does not exist. Another table/],
  [
    'nothing listens',
    [],
    () => 'postgres://eve:s3cret@127.0.0.1:1/x',
    1,
    /^PostgreSQL at 127.0.0.1:1: .*ECONNREFUSED/,
  ],
  ['the database is not there', [], (url) => `${url}-not`, 1, /database "postgres-not" does not exist/],
])('migrate says what is wrong, and no password: %s', async (_what, words, url, status, remarks) => {
  await pool.query('create table if not exists own (id int)')
  const result = await migrate(words, { STORE_URL: url(server.url) })
  expect(result).toMatchObject({ status, output: '', remarks: expect.stringMatching(remarks) })
  expect(result.remarks).not.toContain('s3cret')
})

test('migrate without a URL prints the SQL of the usual tables', async () => {
  expect(await migrate(['--print'], {})).toEqual({
    status: 0,
    output: postgresSchema().trimEnd(),
    remarks: '',
  })
})

test.each(['file:./never.db', 'redis://:s3cret@localhost:1'])(
  'migrate has nothing to do for %s, and says so',
  async (STORE_URL) => {
    const output = 'This store makes what it needs by itself: nothing changed.'
    expect(await migrate([], { STORE_URL })).toEqual({ status: 0, output, remarks: '' })
    expect((await migrate(['--json', '--print'], { STORE_URL })).output).toBe('{\n  "made": []\n}')
  },
)

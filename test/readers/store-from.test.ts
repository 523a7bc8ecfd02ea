import { storeFrom } from 'express-authorization-server/stores'
import { mistakesIn } from '../support/mistakes-of'

const mistakes = (url: string) => mistakesIn(() => storeFrom({ STORE_URL: url }))

const cure =
  ': give it a URL that begins with redis://, rediss://, postgres://, postgresql://, or a file such as file:./oauth.db.'
const unreadable =
  'STORE_URL cannot be read as a URL: a password needs %23 for #, %2F for /, %3F for ? and %40 for @.'
const noFile =
  'STORE_URL names no file of this machine: give it a path such as file:./oauth.db or file:///var/lib/shop/oauth.db, with %23 for # and %3F for ?.'

describe('storeFrom() refuses, in words that hold no password', () => {
  test.each<[string, string, string]>([
    ['another database', 'mysql://ada:s3cret@localhost/shop', `STORE_URL begins with mysql://${cure}`],
    ['a scheme without //', 'redis:s3cret', `STORE_URL is no URL${cure}`],
    ['an address', 'ada:s3cret@localhost:6379', `STORE_URL is no URL${cure}`],
    ['a word', 's3cret', `STORE_URL is no URL${cure}`],
    ['a path', './s3cret.db', `STORE_URL is no URL${cure}`],
    ['a password that ends the host of Redis', 'redis://:s3cret#7@localhost', unreadable],
    ['Redis with a password and without a host', 'redis://:s3cret@/0', unreadable],
    ['a password that ends the host of PostgreSQL', 'postgres://ada:s3cret/7@localhost/shop', unreadable],
    ['a file on another machine', 'file://s3cret/oauth.db', noFile],
    ['a folder', 'file:./s3cret/', noFile],
    ['the folder of the process', 'file:.', noFile],
    ['no file at all', 'file:', noFile],
    ['a file with a query', 'file:./oauth.db?s3cret=1', noFile],
    ['a file with a fragment', 'file:./oauth.db#s3cret', noFile],
    ['a path that cannot be decoded', 'file:./s3cret%zz', noFile],
    [
      'a schema that postgresStore() refuses',
      'postgres://ada:s3cret@localhost/shop?schema=',
      'schema must be a name of 1 to 50 characters of ASCII; the statements quote it.',
    ],
    [
      'a table that postgresStore() refuses',
      'postgresql://ada:s3cret@localhost/shop?table=%C3%A9',
      'table must be a name of 1 to 50 characters of ASCII; the statements quote it.',
    ],
  ])('%s', (_what, url, sentence) => {
    expect(mistakes(url)).toEqual([sentence])
  })
})

describe('storeFrom() without STORE_URL', () => {
  test.each([{}, { STORE_URL: undefined }, { STORE_URL: '' }])('is in memory: %j', async (environment) => {
    const store = storeFrom(environment)
    await store.write('a:key', '7', { version: 'v'.repeat(22) })
    expect([store.place, (await store.read('a:key'))?.value]).toEqual([undefined, '7'])
  })

  test('refuses production, as memoryStore() does', () => {
    const { NODE_ENV } = process.env
    process.env['NODE_ENV'] = 'production'
    try {
      expect(mistakesIn(() => storeFrom({}))).toEqual([expect.stringMatching(/^store must survive restarts/)])
    } finally {
      process.env['NODE_ENV'] = NODE_ENV
    }
  })
})

test.each([
  ['redis://localhost:1', 'Redis at localhost:1'],
  ['REDIS://:s3cret@localhost:1/2?prefix=shop:', 'Redis at localhost:1'],
  ['rediss://localhost:1?family=4', 'Redis at localhost:1'],
  ['postgres://localhost', 'PostgreSQL at localhost:5432'],
  ['postgresql://ada:s3cret@localhost:1/shop?schema=a&sslmode=disable&table=b', 'PostgreSQL at localhost:1'],
  ['postgres://ada:s3cret@/shop?host=/run/postgresql', 'PostgreSQL'],
])('storeFrom() opens %s', async (url, place) => {
  const store = storeFrom({ STORE_URL: url })
  // A host may close it, too.
  await store.close?.()
  await store.close?.()
  expect(store.place).toBe(place)
})

test('storeFrom() makes the pool for PostgreSQL, and closes it', async () => {
  const store = storeFrom({ STORE_URL: 'postgres://localhost:1' })
  await expect(store.read('a:key')).rejects.toThrow('The pool has no connection: ECONNREFUSED')
  await store.close?.()
  await expect(store.read('a:key')).rejects.toThrow('Cannot use a pool after calling end on the pool')
})

import { warningsOf } from '../../support/warnings'

const program = (making: string) =>
  warningsOf(`
    const { Redis } = require('ioredis')
    // Nothing listens at port 1.
    const url = 'redis://admin:hunter2@127.0.0.1:1/7'
    const warning = new Promise((resolve) => process.once('warning', resolve))
    ${making}
    await warning
    await made.close()
  `)

test.each([
  [
    'a server',
    'const made = createAuthorizationServer({ ...options, store: redisStore({ url }) })',
    'connect ECONNREFUSED 127\\.0\\.0\\.1:1',
  ],
  [
    'a guard',
    'const made = createBearerGuard({ issuer: options.issuer, store: redisStore({ url, cache: { maximum: 10 } }) })',
    '.+',
  ],
  [
    'a server over a client of the host',
    `const client = new Redis(url, { maxRetriesPerRequest: 0 }).on('error', () => {})
      const made = createAuthorizationServer({ ...options, store: redisStore({ client }) })
      warning.then(() => client.disconnect())`,
    '.+',
  ],
])(
  '%s says at its start where Redis was looked for and why it failed, and no password',
  async (_who, making, cause) => {
    const warnings = await program(making)
    expect(warnings).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_STORE_UNREACHABLE',
        message: expect.stringMatching(
          `^Redis at 127\\.0\\.0\\.1:1 cannot be used \\(${cause}\\)\\. Requests get temporarily_unavailable`,
        ),
      },
    ])
    expect(JSON.stringify(warnings)).not.toMatch(/hunter2|admin/)
  },
)

test('a request that Redis fails says where Redis was looked for, and no password', async () => {
  const warnings = await warningsOf(`
    const store = suite.redisStore({ url: 'redis://admin:hunter2@127.0.0.1:1/7' })
    const oauth = createAuthorizationServer({ ...options, clients: suite.registeredClients(store), store, storeDeadline: 60 })
    await serve(express().use(oauth.router()), (url) => fetch(url + '/token', { method: 'POST', body: new URLSearchParams({ client_id: 'x' }) }))
    await oauth.close()
  `)
  const warning = warnings.find(({ code }) => code === 'EAS_FAILURE')?.message
  // The command says only that ioredis gave up ("max retries"); the connection knows why.
  expect(warning).toMatch(
    /^store_unavailable: .*: Redis at 127\.0\.0\.1:1: connect ECONNREFUSED 127\.0\.0\.1:1/,
  )
  expect(warning).not.toContain('max retries')
  expect(JSON.stringify(warnings)).not.toMatch(/hunter2|admin/)
})

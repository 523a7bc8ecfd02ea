import { type AuthenticateBy, clientStrategy, runStrategy } from '../../lib/passport/strategies'
import { invalidClient } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { plainRequest } from '../support/rooms/form-request'
import { refusalOf } from '../support/rooms/refused'

const client = clientWith()
const proves: AuthenticateBy = async () => client
const usesAnother: AuthenticateBy = async () => undefined

interface Attempt {
  readonly name?: string
  readonly authenticateBy?: AuthenticateBy
  readonly success?: () => void
  readonly fail?: () => void
}

/** What a strategy does with a request, as Passport would see it. */
async function attempt({ name = 'client_secret_post', authenticateBy = proves, ...bend }: Attempt = {}) {
  const calls: [string, unknown][] = []
  await new Promise<void>((resolve) => {
    const verb = (what: string, does?: () => void) => (value: unknown) => {
      calls.push([what, value])
      // After the microtasks of this verb: a second one would be seen.
      setImmediate(resolve)
      does?.()
    }
    const strategy = Object.assign(Object.create(clientStrategy(name, authenticateBy)), {
      success: verb('success', bend.success),
      fail: verb('fail', bend.fail),
      error: verb('error'),
    })
    strategy.authenticate(plainRequest())
  })
  return calls
}

describe('clientStrategy', () => {
  it('has the name of the method', () => {
    expect(clientStrategy('private_key_jwt', proves).name).toBe('private_key_jwt')
  })

  it('succeeds with the client', async () => {
    expect(await attempt()).toEqual([['success', client]])
  })

  it('authenticates the client of the request by its own method', async () => {
    const authenticateBy = jest.fn(proves)
    await attempt({ name: 'private_key_jwt', authenticateBy })
    expect(authenticateBy.mock.calls.map(([, method]) => method)).toEqual(['private_key_jwt'])
  })

  it('fails for a request that uses another method, so that another strategy can try', async () => {
    expect(await attempt({ authenticateBy: usesAnother })).toEqual([['fail', 401]])
  })

  it.each([
    ['a refusal', invalidClient('client_unknown', 'Client authentication failed.')],
    ['what breaks', new TypeError('broken')],
  ])('ends in an error for %s', async (_what, error) => {
    expect(await attempt({ authenticateBy: () => Promise.reject(error) })).toEqual([['error', error]])
  })

  it.each(['success', 'fail'] as const)(
    'hands on what %s throws, which is the rest of the request',
    async (verb) => {
      const error = new Error('the next middleware')
      const throws = () => {
        throw error
      }
      const authenticateBy = verb === 'success' ? proves : usesAnother
      expect(await attempt({ authenticateBy, [verb]: throws })).toEqual([
        [verb, verb === 'success' ? client : 401],
        ['error', error],
      ])
    },
  )
})

const run = (authenticateBy: AuthenticateBy) =>
  runStrategy(clientStrategy('client_secret_post', authenticateBy), plainRequest(), () => 'proven')

describe('runStrategy', () => {
  it('resolves to the result when the strategy succeeds', async () => {
    await expect(run(proves)).resolves.toBe('proven')
  })

  it('refuses the client when the strategy fails', async () => {
    const refusal = { code: 'invalid_client', reason: 'client_not_authenticated' }
    expect(await refusalOf(run(usesAnother))).toEqual(refusal)
  })

  it('throws what the strategy ends in', async () => {
    const error = new TypeError('broken')
    await expect(run(() => Promise.reject(error))).rejects.toBe(error)
  })

  it('runs one strategy for many requests at once', async () => {
    const releases: (() => void)[] = []
    const strategy = clientStrategy('client_secret_post', async () => {
      await new Promise<void>((resolve) => releases.push(resolve))
      return client
    })
    const runs = [1, 2].map((one) => runStrategy(strategy, plainRequest(), () => one))
    for (const release of releases.toReversed()) release()
    await expect(Promise.all(runs)).resolves.toEqual([1, 2])
  })
})

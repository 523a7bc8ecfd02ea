import { clientSecretPost } from '../../lib/client-authentication/built-in-methods'
import { SecretVerifier } from '../../lib/client-authentication/client-secret'
import { type ClientRequest, clientStrategy, runStrategy } from '../../lib/passport/strategies'
import { invalidClient } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { plainRequest } from '../support/rooms/form-request'
import { refusalOf } from '../support/rooms/refused'

const client = clientWith()
const proven = { client, byOldSecret: false }
const method = clientSecretPost(new SecretVerifier(Date.now))
const presented = { method, clientId: client.client_id, credential: 'secret' }

/** A strategy for requests that present this client by its secret in the body. */
const strategyNamed = (name: string, prove: ClientRequest['prove']) =>
  clientStrategy(name, () => ({ present: async () => presented, prove }))

interface Attempt {
  readonly name?: string
  readonly prove?: ClientRequest['prove']
  readonly success?: () => void
  readonly fail?: () => void
}

/** What a strategy does with a request, as Passport would see it. */
async function attempt({ name = 'client_secret_post', prove = async () => proven, ...bend }: Attempt = {}) {
  const calls: [string, unknown][] = []
  await new Promise<void>((resolve) => {
    const verb = (what: string, does?: () => void) => (value: unknown) => {
      calls.push([what, value])
      // After the microtasks of this verb: a second one would be seen.
      setImmediate(resolve)
      does?.()
    }
    const strategy = Object.assign(Object.create(strategyNamed(name, prove)), {
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
    expect(strategyNamed('private_key_jwt', async () => proven).name).toBe('private_key_jwt')
  })

  it('succeeds with the client', async () => {
    expect(await attempt()).toEqual([['success', client]])
  })

  it('proves what the request presents', async () => {
    const prove = jest.fn(async () => proven)
    await attempt({ prove })
    expect(prove.mock.calls).toEqual([[presented]])
  })

  it('fails for a request that uses another method, so that another strategy can try', async () => {
    const prove = jest.fn(async () => proven)
    expect(await attempt({ name: 'client_secret_basic', prove })).toEqual([['fail', 401]])
    expect(prove).not.toHaveBeenCalled()
  })

  it.each([
    ['a refusal', invalidClient('client_unknown', 'Client authentication failed.')],
    ['what breaks', new TypeError('broken')],
  ])('ends in an error for %s', async (_what, error) => {
    expect(await attempt({ prove: () => Promise.reject(error) })).toEqual([['error', error]])
  })

  it('ends in an error when the proof throws at once', async () => {
    const error = new TypeError('broken')
    const prove = () => {
      throw error
    }
    expect(await attempt({ prove })).toEqual([['error', error]])
  })

  it.each(['success', 'fail'] as const)(
    'hands on what %s throws, which is the rest of the request',
    async (verb) => {
      const error = new Error('the next middleware')
      const throws = () => {
        throw error
      }
      const name = verb === 'success' ? 'client_secret_post' : 'none'
      expect(await attempt({ name, [verb]: throws })).toEqual([
        [verb, verb === 'success' ? client : 401],
        ['error', error],
      ])
    },
  )
})

const run = (name: string, prove: ClientRequest['prove']) =>
  runStrategy(strategyNamed(name, prove), plainRequest())

describe('runStrategy', () => {
  it('resolves when the strategy succeeds', async () => {
    await expect(run('client_secret_post', async () => proven)).resolves.toBeUndefined()
  })

  it('refuses the client when the strategy fails', async () => {
    const refusal = { code: 'invalid_client', reason: 'client_not_authenticated' }
    expect(await refusalOf(run('none', async () => proven))).toEqual(refusal)
  })

  it('throws what the strategy ends in', async () => {
    const error = new TypeError('broken')
    await expect(run('client_secret_post', () => Promise.reject(error))).rejects.toBe(error)
  })

  it('runs one strategy for many requests at once', async () => {
    const releases: (() => void)[] = []
    const strategy = strategyNamed('client_secret_post', async () => {
      await new Promise<void>((resolve) => releases.push(resolve))
      return proven
    })
    const runs = [runStrategy(strategy, plainRequest()), runStrategy(strategy, plainRequest())]
    await new Promise((resolve) => setImmediate(resolve))
    for (const release of releases.toReversed()) release()
    await expect(Promise.all(runs)).resolves.toHaveLength(2)
  })
})

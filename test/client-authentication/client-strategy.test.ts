import { ClientCredential } from '../../lib/client-authentication/read-credential'
import {
  type AuthenticateBy,
  clientStrategy,
  verifyCredential,
} from '../../lib/client-authentication/strategies'
import { invalidClient } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { plainRequest } from '../support/rooms/form-request'
import { refusalOf } from '../support/rooms/refused'

const client = clientWith()
const proven = { client, byOldSecret: true }
const proves: AuthenticateBy = async () => proven
const usesAnother: AuthenticateBy = async () => undefined

interface Attempt {
  readonly name?: string
  readonly authenticateBy?: AuthenticateBy
  readonly success?: () => void
  readonly fail?: () => void
}

/** What a strategy does with a request, as Passport would see it. */
async function attempt({ name = 'client_secret_post', authenticateBy = proves, ...bend }: Attempt = {}) {
  const calls: [string, ...unknown[]][] = []
  await new Promise<void>((resolve) => {
    const verb =
      (what: string, does?: () => void) =>
      (...values: unknown[]) => {
        calls.push([what, ...values])
        // After the microtasks of this verb: a second one would be seen.
        setImmediate(resolve)
        does?.()
      }
    const strategy = Object.assign(Object.create(clientStrategy(name, authenticateBy)), {
      success: verb('success', bend.success),
      fail: verb('fail', bend.fail),
      error: verb('error'),
    })
    // The options of Passport are no credential.
    strategy.authenticate(plainRequest(), { session: false, credential: 'secret' })
  })
  return calls
}

describe('clientStrategy', () => {
  it('has the name of the method', () => {
    expect(clientStrategy('private_key_jwt', proves).name).toBe('private_key_jwt')
  })

  it('succeeds with the client, and passes its proof to Passport', async () => {
    expect(await attempt()).toEqual([['success', client, { byOldSecret: true }]])
  })

  it('authenticates the client of the request by its own method', async () => {
    const authenticateBy = jest.fn(proves)
    await attempt({ name: 'private_key_jwt', authenticateBy })
    expect(authenticateBy.mock.calls.map(([, ...given]) => given)).toEqual([['private_key_jwt', undefined]])
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
        verb === 'success' ? ['success', client, { byOldSecret: true }] : ['fail', 401],
        ['error', error],
      ])
    },
  )
})

const method = { name: 'client_secret_post', read: () => undefined, verify: async () => true }
const credential = new ClientCredential(client.client_id, 'secret', method)
const verify = (authenticateBy: AuthenticateBy) =>
  verifyCredential(clientStrategy(method.name, authenticateBy), plainRequest(), credential)

describe('verifyCredential', () => {
  it('gives the strategy the credential, and resolves to what it succeeds with', async () => {
    const authenticateBy = jest.fn(proves)
    await expect(verify(authenticateBy)).resolves.toEqual(proven)
    expect(authenticateBy).toHaveBeenCalledWith(expect.anything(), method.name, credential)
  })

  it('refuses the client when the strategy fails', async () => {
    const refusal = { code: 'invalid_client', reason: 'client_not_authenticated' }
    expect(await refusalOf(verify(usesAnother))).toEqual(refusal)
  })

  it('throws what the strategy ends in', async () => {
    const error = new TypeError('broken')
    await expect(verify(() => Promise.reject(error))).rejects.toBe(error)
  })

  it('runs one strategy for many requests at once', async () => {
    const releases: (() => void)[] = []
    const strategy = clientStrategy(method.name, async (_request, _method, given) => {
      await new Promise<void>((resolve) => releases.push(resolve))
      return { client: clientWith({ client_id: given?.clientId ?? '' }), byOldSecret: false }
    })
    const runs = ['one', 'two'].map((name) =>
      verifyCredential(strategy, plainRequest(), new ClientCredential(name, 'secret', method)),
    )
    for (const release of releases.toReversed()) release()
    const clients = await Promise.all(runs)
    expect(clients.map(({ client: { client_id } }) => client_id)).toEqual(['one', 'two'])
  })
})

import type { Request } from 'express'
import { clientSecretPost } from '../../lib/client-authentication/built-in-methods'
import { SecretVerifier } from '../../lib/client-authentication/client-secret'
import type { ClientAuthenticationMethod } from '../../lib/client-authentication/method'
import { authenticatedClient, ClientVerification } from '../../lib/passport/client-verification'
import { clientStrategy, type VerifyPresented } from '../../lib/passport/strategies'
import { invalidClient } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { clientsOf } from '../support/rooms/endpoints'
import { plainRequest } from '../support/rooms/form-request'
import { parametersOf } from '../support/rooms/parameters'
import { noLimits } from '../support/rooms/secrets'

const client = clientWith()
const proven = { client, byOldSecret: false }
const methods: readonly ClientAuthenticationMethod[] = [clientSecretPost(new SecretVerifier(Date.now))]
const body = parametersOf({ client_id: client.client_id, client_secret: 'secret' })
const verification = new ClientVerification(methods, clientsOf(client), noLimits, async () => ({
  authorization: [],
  body,
  query: parametersOf(),
  certificate: undefined,
}))

interface Attempt {
  readonly name?: string
  readonly prove?: VerifyPresented
  readonly success?: () => void
  readonly fail?: () => void
}

/** What a strategy does with a request, as Passport would see it. */
async function attempt({ name = 'client_secret_post', prove = async () => proven, ...bend }: Attempt = {}) {
  const request: Request = plainRequest()
  const calls: [string, unknown][] = []
  await new Promise<void>((resolve) => {
    const verb = (what: string, does?: () => void) => (value: unknown) => {
      calls.push([what, value])
      // After the microtasks of this verb: a second one would be seen.
      setImmediate(resolve)
      does?.()
    }
    const strategy = Object.assign(Object.create(clientStrategy(name, verification, prove)), {
      success: verb('success', bend.success),
      fail: verb('fail', bend.fail),
      error: verb('error'),
    })
    strategy.authenticate(request)
  })
  return { calls, request }
}

describe('clientStrategy', () => {
  it('has the name of the method', () => {
    expect(clientStrategy('private_key_jwt', verification, async () => proven).name).toBe('private_key_jwt')
  })

  it('succeeds with the client, and notes that it is proven', async () => {
    const { calls, request } = await attempt()
    expect(calls).toEqual([['success', client]])
    expect(authenticatedClient(request)).toBe(client)
  })

  it('proves what the request presents', async () => {
    const prove = jest.fn(async () => proven)
    const { request } = await attempt({ prove })
    expect(prove.mock.calls).toEqual([
      [{ method: methods[0], clientId: client.client_id, credential: 'secret' }, request],
    ])
  })

  it('fails for a request that uses another method, so that another strategy can try', async () => {
    const prove = jest.fn(async () => proven)
    const { calls, request } = await attempt({ name: 'client_secret_basic', prove })
    expect(calls).toEqual([['fail', 401]])
    expect(prove).not.toHaveBeenCalled()
    expect(authenticatedClient(request)).toBeUndefined()
  })

  it.each([
    ['a refusal', invalidClient('client_unknown', 'Client authentication failed.')],
    ['what breaks', new TypeError('broken')],
  ])('ends in an error for %s, and proves nothing', async (_what, error) => {
    const { calls, request } = await attempt({ prove: () => Promise.reject(error) })
    expect(calls).toEqual([['error', error]])
    expect(authenticatedClient(request)).toBeUndefined()
  })

  it('ends in an error when the proof throws at once', async () => {
    const error = new TypeError('broken')
    const prove = () => {
      throw error
    }
    expect((await attempt({ prove })).calls).toEqual([['error', error]])
  })

  it.each(['success', 'fail'] as const)(
    'hands on what %s throws, which is the rest of the request',
    async (verb) => {
      const error = new Error('the next middleware')
      const throws = () => {
        throw error
      }
      const name = verb === 'success' ? 'client_secret_post' : 'none'
      const { calls } = await attempt({ name, [verb]: throws })
      expect(calls).toEqual([
        [verb, verb === 'success' ? client : 401],
        ['error', error],
      ])
    },
  )
})

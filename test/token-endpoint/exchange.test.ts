import type { Client } from '../../lib/protocol/client'
import { digest } from '../../lib/protocol/credential'
import { noEvidence } from '../../lib/protocol/evidence'
import { invalidGrant, temporarilyUnavailable } from '../../lib/protocol/host-errors'
import { exchange } from '../../lib/token-endpoint/exchange'
import {
  type GrantResult,
  type GrantType,
  mayRefresh,
  type TokenRequest,
} from '../../lib/token-endpoint/grant-type'
import { clientWith } from '../support/authorization/client'
import { context, noon, ownIssuer } from '../support/authorization/issue-context'
import { type ServerBend, tokenServer, watchedStore } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { refusalOf } from '../support/rooms/refused'

describe('exchange', () => {
  const proof: Extract<GrantResult, { grant: unknown }> = {
    grant: {
      subject: 'bob',
      scope: ['photos.read'],
      refreshToken: false,
      extensionData: { assertion: 'seen' },
    },
  }

  /** A grant type of this test's own, which comes through the door: it proves what it is told to. */
  const name = 'urn:example:grant:voucher'
  const prove = jest.fn(async (_request: TokenRequest): Promise<GrantResult> => proof)
  const voucher: GrantType = { name, parameters: ['voucher'], handle: prove }
  beforeEach(() => prove.mockClear())

  const client: Client = { ...clientWith(), grant_types: [name] }
  type Values = Parameters<typeof parametersOf>[0]
  const ask = async (values: Values, bend: ServerBend = {}, asker = client) => {
    const { members } = await exchange(tokenServer([voucher], bend), {
      client: asker,
      parameters: parametersOf(values),
      evidence: noEvidence,
      address: '192.0.2.7',
    })
    return members
  }
  const good = { grant_type: name, voucher: 'v-1' }

  describe('exchange: which grant type', () => {
    it.each<[string, Values, string, string]>([
      ['is missing', {}, 'invalid_request', 'parameter_missing'],
      ['is empty', { grant_type: '' }, 'invalid_request', 'parameter_missing'],
      ['is repeated', { grant_type: [name, name] }, 'invalid_request', 'parameter_malformed'],
      ['is unknown', { grant_type: 'password' }, 'unsupported_grant_type', 'grant_type_unknown'],
      [
        'is known in other case only',
        { grant_type: name.toUpperCase() },
        'unsupported_grant_type',
        'grant_type_unknown',
      ],
      [
        'is a name that every object has',
        { grant_type: 'constructor' },
        'unsupported_grant_type',
        'grant_type_unknown',
      ],
      ['is __proto__', { grant_type: '__proto__' }, 'unsupported_grant_type', 'grant_type_unknown'],
    ])('refuses a grant_type that %s (TER-4)', async (_what, values, code, reason) => {
      expect(await refusalOf(ask(values))).toEqual({ code, reason })
      expect(prove).not.toHaveBeenCalled()
    })

    it('refuses a client that may not use the grant type (TER-5)', async () => {
      const attempt = ask(good, {}, clientWith())
      expect(await refusalOf(attempt)).toEqual({
        code: 'unauthorized_client',
        reason: 'grant_type_not_registered',
      })
      expect(prove).not.toHaveBeenCalled()
    })

    it('looks at the parameters of a grant type last, and before it proves', async () => {
      const values = { ...good, voucher: ['v-1', 'v-2'] }
      const stranger = ask(values, {}, clientWith())
      expect(await refusalOf(stranger)).toHaveProperty('code', 'unauthorized_client')
      expect(await refusalOf(ask({ ...values, grant_type: 'x' }))).toHaveProperty(
        'code',
        'unsupported_grant_type',
      )
      expect(await refusalOf(ask(values))).toEqual({ code: 'invalid_request', reason: 'parameter_malformed' })
      expect(prove).not.toHaveBeenCalled()
    })

    it('ignores a repeated parameter that the grant type does not read (EPT-3)', async () => {
      await expect(ask({ ...good, code: ['a', 'b'] })).resolves.toHaveProperty('access_token')
    })
  })

  describe('exchange: a grant type through the door', () => {
    it('is shown the request as it is', async () => {
      const now = context()
      await ask(good, { issueContext: () => now, defaultScope: ['photos.read'] })
      expect(prove).toHaveBeenCalledTimes(1)
      const [request] = prove.mock.calls[0] ?? []
      expect(request).toMatchObject({ client, defaultScope: ['photos.read'] })
      expect(request?.context).toBe(now)
      expect(request?.parameters.get('voucher')).toBe('v-1')
    })

    it('begins an authorization with what it has proven, and issues nothing itself', async () => {
      const store = watchedStore()
      const answer = await ask(good, { store })
      expect(answer).toEqual({
        access_token: expect.stringMatching(/^at_[A-Za-z0-9_-]{64}$/),
        token_type: 'bearer',
        expires_in: 3600,
        scope: 'photos.read',
      })
      expect(store.saved).toEqual([
        {
          state: 'active',
          id: expect.any(String),
          issuerDigest: ownIssuer,
          clientId: 'photo-printer',
          subject: 'bob',
          scope: ['photos.read'],
          tokenType: 'bearer',
          extensionData: { assertion: 'seen' },
          spentCode: undefined,
          accessTokens: [
            {
              digest: digest(answer['access_token']),
              scope: ['photos.read'],
              expiresAt: noon + 3600,
              tokenData: undefined,
              extensionData: {},
            },
          ],
          refreshToken: undefined,
        },
      ])
    })

    it('gets a refresh token when it says so', async () => {
      prove.mockResolvedValueOnce({ grant: { ...proof.grant, refreshToken: true } })
      await expect(ask(good)).resolves.toHaveProperty('refresh_token', expect.stringMatching(/^rt_/))
    })

    it('refuses as the grant type refuses, and stores nothing', async () => {
      const refusal = invalidGrant('voucher_spent', 'The voucher is spent.')
      prove.mockRejectedValueOnce(refusal)
      const store = watchedStore()
      await expect(ask(good, { store })).rejects.toBe(refusal)
      expect(store.saved).toEqual([])
    })

    it('moves an authorization that exists by the transition it gives', async () => {
      const issued = {
        accessToken: 'at_x',
        tokenType: 'stamped',
        properties: { stamp: 'red' },
        expiresAt: noon + 7,
        scope: ['photos.read'],
        refreshToken: undefined,
      }
      const transition = jest.fn(() => ({ action: 'none' as const, outcome: issued, event: undefined }))
      prove.mockResolvedValueOnce({ authorizationId: 'A'.repeat(22), transition })
      await expect(ask(good)).resolves.toEqual({
        access_token: 'at_x',
        token_type: 'stamped',
        stamp: 'red',
        expires_in: 7,
        scope: 'photos.read',
      })
      expect(transition).toHaveBeenCalledWith(undefined, undefined)
    })
  })

  describe('exchange: surroundings', () => {
    it('looks at the clock once', async () => {
      const clock = jest.fn(() => context())
      await ask(good, { issueContext: clock })
      expect(clock).toHaveBeenCalledTimes(1)
    })

    it.each([
      ['trouble of the store', temporarilyUnavailable('store_unavailable', 'x')],
      ['what breaks', new Error('broken')],
    ])('lets %s through as it is: never invalid_grant', async (_what, trouble) => {
      const store = { ...watchedStore(), save: () => Promise.reject(trouble) }
      await expect(ask(good, { store })).rejects.toBe(trouble)
    })

    it('gives no token that was not stored', async () => {
      const store = { ...watchedStore(), save: async () => false }
      await expect(ask(good, { store })).rejects.toThrow('saved no authorization')
    })
  })
})

const grant = { subject: 'alice', scope: ['photos.read'], refreshToken: false, extensionData: {} }

/** The answer to a grant type that proves this. */
async function answerTo(proof: GrantResult): Promise<object> {
  const extension: GrantType = { name: 'urn:x:y', parameters: [], handle: async () => proof }
  const client = { ...clientWith(), grant_types: ['urn:x:y'] }
  const parameters = parametersOf({ grant_type: 'urn:x:y' })
  const asked = { client, parameters, evidence: noEvidence, address: undefined }
  return (await exchange(tokenServer([extension]), asked)).members
}

test('a grant type adds members to the answer, but never one in the place of ours', async () => {
  const members = {
    issued_token_type: 'urn:x',
    access_token: 'mine',
    token_type: 'n',
    expires_in: '9',
    scope: 'all',
  }
  expect(await answerTo({ grant, members })).toEqual({
    issued_token_type: 'urn:x',
    access_token: expect.stringMatching(/^at_/),
    token_type: 'bearer',
    expires_in: 3600,
    scope: 'photos.read',
  })
})

test('a grant that ends earlier than an access token ends it, and brings nothing that would outlive it', async () => {
  const ending = { ...grant, refreshToken: true }
  const answer = await answerTo({ grant: { ...ending, expiresAt: noon + 60 } })
  expect(answer).toMatchObject({ expires_in: 60 })
  expect(answer).not.toHaveProperty('refresh_token')
  expect(await answerTo({ grant: { ...ending, expiresAt: noon + 9999 } })).toMatchObject({ expires_in: 3600 })
  expect(await answerTo({ grant: ending })).toHaveProperty('refresh_token')
})

test.each([noon, noon - 1, Number.NaN, noon + 0.5, Infinity])(
  'a grant that has ended, or ends at no time at all, gives nothing: %d',
  async (expiresAt) => {
    await expect(answerTo({ grant: { ...grant, expiresAt } })).rejects.toThrow(RangeError)
  },
)

describe('mayRefresh', () => {
  it.each([
    [['authorization_code', 'refresh_token'], true],
    [['authorization_code'], false],
  ])('of a client with the grants %j: %s', (grant_types, may) => {
    expect(mayRefresh(clientWith({ grant_types }))).toBe(may)
  })
})

import { jwtAccessTokens, memoryClients, registerClient, type ClientRegistration } from '../../lib/index'
import { bent, photoBook, photoPrint, type ClientApplication } from '../support/flows/clients'
import { partOf, sharedKeys } from '../support/flows/jwt-tokens'
import { keyedRefreshTokens } from '../support/flows/keyed-tokens'
import { gallery, photosApi, withResources } from '../support/flows/resources'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

const off = { refreshTokenRotation: false }
const day = 24 * 3600

describeOnStores('A refresh token without rotation', (stage) => {
  test.each<[boolean, boolean | undefined, boolean]>([
    [true, undefined, true],
    [true, false, false],
    [false, undefined, false],
    [false, true, true],
  ])('with the option %s and the registration %s, rotates: %s', async (option, member, rotates) => {
    const client = bent(photoPrint, member === undefined ? {} : { refresh_token_rotation: member })
    const { flow } = stage({ refreshTokenRotation: option, clients: [client.registration] })
    const { refreshToken } = await flow.tokens(client)
    const next = tokensOf(await flow.refresh(client, refreshToken))
    expect(next.refreshToken !== refreshToken).toBe(rotates)
  })

  test('gives JWTs, too, and keeps the login of its authorization', async () => {
    const keys = sharedKeys()
    const { flow } = stage(
      withResources({
        ...off,
        defaultResource: photosApi,
        plugIns: [keys, jwtAccessTokens({ keys })],
        resourceOwner: (req) => ({ subject: String(req.get('X-Owner')), authTime: 1_700_000_000 }),
      }),
    )
    const code = await flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
    const { refresh_token } = (await flow.redeem(gallery, code)).body
    const texts = new Set<string>()
    for (let round = 0; round < 2; round++) {
      const { body } = await flow.refresh(gallery, refresh_token)
      expect(body.refresh_token).toBe(refresh_token)
      expect(partOf(body.access_token, 1)).toMatchObject({ auth_time: 1_700_000_000, sub: 'alice' })
      texts.add(body.access_token)
    }
    expect(texts.size).toBe(2)
  })

  test('is known to introspection, with its end', async () => {
    const { flow, clock } = stage({
      ...off,
      clients: [bent(photoPrint, { may_introspect: true }).registration],
    })
    const { refreshToken } = await flow.tokens(photoPrint)
    clock.advance(100)
    tokensOf(await flow.refresh(photoPrint, refreshToken))
    const { active, exp } = (await flow.introspect(photoPrint, refreshToken)).body
    expect([active, exp]).toEqual([true, Math.floor(clock.read() / 1000) + 30 * day])
  })
})

describe('The member refresh_token_rotation of a registration', () => {
  const withMember = (client: ClientApplication, member: unknown): ClientRegistration[] => {
    const entries: readonly (readonly unknown[])[] = [['refresh_token_rotation', member]]
    return [bent(client, Object.fromEntries(entries)).registration]
  }

  describeOnStores('in the options', (stage) => {
    test('is false for a public client only where an extension binds refresh tokens', () => {
      const clients = withMember(photoBook, false)
      expect(() => stage({ clients })).toThrow(
        'clients[0].refresh_token_rotation must not be false for a public client here',
      )
      expect(() => stage({ clients, plugIns: [keyedRefreshTokens] })).not.toThrow()
      expect(() => stage({ clients: withMember(photoBook, true) })).not.toThrow()
      expect(() => stage({ clients: withMember(photoPrint, false) })).not.toThrow()
    })

    test.each([1, 'false', [], {}])('is no %j', (member) => {
      expect(() => stage({ clients: withMember(photoPrint, member) })).toThrow(
        'clients[0].refresh_token_rotation must be true or false.',
      )
    })

    test('is registered, and counts at the next refresh', async () => {
      const clients = memoryClients()
      const { flow } = stage({ clients })
      const { client_id: _id, client_secret_hashes: _hashes, ...fields } = photoPrint.registration
      const { client_id, client_secret } = await registerClient(clients, {
        ...fields,
        refresh_token_rotation: false,
      })
      const client = {
        registration: { ...photoPrint.registration, client_id },
        secret: String(client_secret),
      }
      const { refreshToken } = await flow.tokens(client)
      expect(tokensOf(await flow.refresh(client, refreshToken)).refreshToken).toBe(refreshToken)
    })
  })
})

describeRegistration('A client that registers itself', (stage) => {
  test('rotates its refresh tokens as the server says, whatever it names', async () => {
    const { register } = stage()
    const { status, body } = await register({ ...notesApp, refresh_token_rotation: false })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('refresh_token_rotation')
  })
})

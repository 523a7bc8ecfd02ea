import { jwtAccessTokens, memoryClients, registerClient, type ClientRegistration } from '../../lib/index'
import { bent, photoBook, photoPrint, type ClientApplication } from '../support/flows/clients'
import { redemption, type Flow } from '../support/flows/flow'
import { partOf, sharedKeys } from '../support/flows/jwt-tokens'
import { keyedRefreshTokens } from '../support/flows/keyed-tokens'
import { gallery, job, photosApi, printApi, withResources } from '../support/flows/resources'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

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

  test('gets a token for each resource that was approved', async () => {
    const { flow } = stage(withResources({ ...off, defaultResource: photosApi }))
    const asked = { scope: 'photos:read photos:print', resource: [photosApi, printApi] }
    const { refreshToken } = await flow.tokens(gallery, asked)
    for (const resource of [photosApi, printApi]) {
      const { accessToken } = tokensOf(await flow.refresh(gallery, refreshToken, { resource }))
      expect((await flow.introspect(job, accessToken)).body.aud).toEqual([resource])
    }
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

  test('ends by stillAllowed, with all tokens of the authorization', async () => {
    let allowed = true
    const { flow } = stage({ ...off, stillAllowed: () => allowed })
    const { refreshToken } = await flow.tokens(photoPrint)
    const { accessToken } = tokensOf(await flow.refresh(photoPrint, refreshToken))
    allowed = false
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    allowed = true
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
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

  test('is one from before the option, too; one that was rotated before stays replaced', async () => {
    const rotating = stage()
    const { refreshToken: former } = await rotating.flow.tokens(photoPrint)
    const { refreshToken } = tokensOf(await rotating.flow.refresh(photoPrint, former))
    const { flow, clock, failures } = stage({
      ...off,
      store: rotating.store,
      clock: rotating.clock.read,
    })
    expect(tokensOf(await flow.refresh(photoPrint, refreshToken)).refreshToken).toBe(refreshToken)
    // Within the grace, its last rotation is repeated.
    expect(tokensOf(await flow.refresh(photoPrint, former)).refreshToken).toBe(refreshToken)
    rotating.clock.advance(30)
    clock.advance(30)
    expect(refusalOf(await flow.refresh(photoPrint, former))).toBe('400 invalid_grant')
    expect(failures.at(-1)).toMatchObject({ reason: 'refresh_token_reused' })
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })

  test('rotates again once the option is back, and then counts as stolen when it comes again', async () => {
    const keeping = stage(off)
    const { refreshToken } = await keeping.flow.tokens(photoPrint)
    tokensOf(await keeping.flow.refresh(photoPrint, refreshToken))
    const { flow } = stage({ store: keeping.store, clock: keeping.clock.read })
    const next = tokensOf(await flow.refresh(photoPrint, refreshToken)).refreshToken
    expect(next).not.toBe(refreshToken)
    keeping.clock.advance(30)
    expect(refusalOf(await keeping.flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
    expect(refusalOf(await flow.refresh(photoPrint, next))).toBe('400 invalid_grant')
  })
})

describeOnStores('A refresh token of a public client that an extension has bound', (stage) => {
  const open = () => stage({ ...off, plugIns: [keyedRefreshTokens] })
  const send = (flow: Flow, fields: object, key?: string) =>
    flow.submit(
      flow.paths.token,
      { client_id: photoBook.registration.client_id, ...fields },
      undefined,
      key === undefined ? {} : { Key: key },
    )
  const refresh = (flow: Flow, refresh_token: string, key?: string) =>
    send(flow, { grant_type: 'refresh_token', refresh_token }, key)
  const boundTo = async (flow: Flow, key?: string): Promise<string> =>
    (await send(flow, redemption(photoBook, await flow.approve(photoBook)), key)).body.refresh_token

  test('rotates while it is not bound, and once more when a request binds it', async () => {
    const { flow } = open()
    const unbound = await boundTo(flow)
    const second = (await refresh(flow, unbound)).body.refresh_token
    expect(second).not.toBe(unbound)
    const third = (await refresh(flow, second, 'k-1')).body.refresh_token
    expect(third).not.toBe(second)
    expect((await refresh(flow, third, 'k-1')).body.refresh_token).toBe(third)
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

import { voucherGrant } from '../../docs/examples/voucher-grant'
import {
  type AccessTokenFormat,
  approveWithCode,
  type AuthorizationServerOptions,
  type Extension,
  implicit,
  issueAccessToken,
  type ResponseType,
  temporarilyUnavailable,
} from 'express-authorization-server'
import { mac } from 'express-authorization-server/mac'
import { mintToken } from 'express-authorization-server/testing'
import { recordEvents } from '../support/events'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { fragmentOf } from '../support/flows/redirection'
import { claimsIn, signedFormat } from '../support/flows/signed-format'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'
import { credentialFingerprint } from '../support/flows/every-endpoint'
import { withPlugins } from '../support/with-plug-ins'

const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoBook, photoPrint, report].map(({ registration }) => registration)
const signed = signedFormat('signed')
const opaque = /^at_[\w-]{65}$/

/** A format whose `encode` fails until the signer is back. */
function failingFormat(error: unknown = new Error('The signer is gone.')) {
  const signer = { isBack: false }
  const format = signedFormat('signed', 'signed', {
    encode: async (claims) => {
      if (signer.isBack) return signed.encode(claims)
      throw error
    },
  })
  return { format, signer }
}

/** A later server with the same store. */
const deployedWith = (
  { store, clock }: Pick<Stage, 'store' | 'clock'>,
  accessTokenFormats: readonly AccessTokenFormat[],
) =>
  application({
    clients,
    store,
    clock: clock.read,
    plugins: [{ name: 'host-formats', accessTokenFormats }],
  }).flow

describeOnStores('A format of access tokens', (stage) => {
  const set = (options: Partial<AuthorizationServerOptions> = {}) =>
    stage({
      clients,
      ...options,
      plugins: withPlugins([{ name: 'host-formats', accessTokenFormats: [signed] }], options.plugins),
    })

  test('writes the token, and guard and introspection read it; the text holds no secret', async () => {
    const { flow, clock } = set()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const now = Math.floor(clock.read() / 1000)
    expect(body.token_type).toBe('bearer')
    expect(claimsIn(body.access_token)).toEqual({
      issuer: 'http://localhost',
      authorizationId: expect.stringMatching(/^[\w-]{22}$/),
      tokenId: expect.stringMatching(/^[\w-]{43}$/),
      subject: 'alice',
      clientId: 'photo-print',
      scope: ['photos:read', 'photos:print'],
      tokenType: 'bearer',
      issuedAt: now,
      expiresAt: now + body.expires_in,
      extensionData: { pkce: expect.any(String) },
      members: {},
      tokenExtensionData: {},
    })
    const guarded = await flow.photos(body.access_token)
    expect(guarded.body).toMatchObject({ subject: 'alice', clientId: 'photo-print', tokenType: 'bearer' })
    const introspected = await flow.introspect(report, body.access_token)
    expect(introspected.body).toMatchObject({ active: true, sub: 'alice', client_id: 'photo-print' })
    clock.advance(3600)
    expect((await flow.photos(body.access_token)).status).toBe(401)
    expect((await flow.introspect(report, body.access_token)).body).toEqual({ active: false })
  })

  test('a token of a client that acts for itself has no subject, and one of a type with a text of its own stays opaque', async () => {
    const signing = bent(photoFrame, { token_type: 'mac', grant_types: ['client_credentials'] })
    const { flow } = set({
      clients: [report.registration, signing.registration],
      plugins: [mac({ hosts: ['localhost'] })],
    })
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    const { body } = await flow.request(report, grant)
    expect(claimsIn(body.access_token)).not.toHaveProperty('subject')
    expect((await flow.introspect(report, body.access_token)).body).toMatchObject({ sub: 'nightly-report' })
    expect((await flow.request(signing, grant)).body.access_token).toMatch(opaque)
  })

  test('a revocation of the token ends it at once, with its refresh token; another client has no such power', async () => {
    const { flow } = set()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    expect((await flow.revoke(photoBook, body.access_token)).body).toEqual({})
    expect((await flow.photos(body.access_token)).status).toBe(200)
    expect((await flow.revoke(photoPrint, body.access_token)).body).toEqual({})
    expect((await flow.photos(body.access_token)).status).toBe(401)
    expect((await flow.introspect(report, body.access_token)).body).toEqual({ active: false })
    expect(refusalOf(await flow.refresh(photoPrint, body.refresh_token))).toBe('400 invalid_grant')
  })

  test('a repeated refresh gives the same tokens in the same format, and another scope another token, the same each time', async () => {
    const { flow, store, clock } = set()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const refresh = async (scope?: string) =>
      (await flow.refresh(photoPrint, body.refresh_token, { scope })).body
    const first = await refresh()
    clock.advance(7)
    expect(await refresh()).toEqual({ ...first, expires_in: first.expires_in - 7 })
    const narrow = await refresh('photos:read')
    clock.advance(1)
    expect(await refresh('photos:read')).toEqual({ ...narrow, expires_in: narrow.expires_in - 1 })
    expect(narrow.access_token).not.toBe(first.access_token)
    expect(narrow.refresh_token).toBe(first.refresh_token)
    // Also if the server has another first format by then.
    const deployed = deployedWith({ store, clock }, [signedFormat('newer'), signed])
    const again = await deployed.refresh(photoPrint, body.refresh_token)
    expect(again.body.access_token).toBe(first.access_token)
    expect((await deployed.photos(again.body.access_token)).status).toBe(200)
  })

  test.each<[string, readonly AccessTokenFormat[]]>([
    ['has no format any more', []],
    ['has another format', [signedFormat('newer')]],
  ])(
    'a repetition at a server that %s gives a token that it can write',
    async (_what, accessTokenFormats) => {
      const { flow, store, clock } = set()
      const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
      const first = await flow.refresh(photoPrint, body.refresh_token)
      const deployed = deployedWith({ store, clock }, accessTokenFormats)
      const again = await deployed.refresh(photoPrint, body.refresh_token)
      expect(again.body.refresh_token).toBe(first.body.refresh_token)
      expect((await deployed.photos(again.body.access_token)).status).toBe(200)
      expect((await flow.photos(first.body.access_token)).status).toBe(200)
      const third = await deployed.refresh(photoPrint, body.refresh_token)
      expect(third.body.access_token).toBe(again.body.access_token)
    },
  )

  test('opaque tokens stay good when a server gets a format, and a server without it knows no formatted token', async () => {
    const { flow, store, clock } = set()
    const before = application({ clients, store, clock: clock.read }).flow
    const { accessToken } = await before.tokens(photoPrint)
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await flow.introspect(report, accessToken)).body).toHaveProperty('active', true)
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    expect((await before.photos(body.access_token)).status).toBe(401)
    await flow.revoke(photoPrint, accessToken)
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('the first format writes, unless an extension names another one, or opaque; each reads its own', async () => {
    const choosing: Extension = {
      name: 'choosing',
      tokenParameters: ['format'],
      issue: ({ parameters }) => {
        const format = parameters.get('format')
        return format === undefined ? undefined : { format }
      },
    }
    const second = signedFormat('second')
    const { flow } = set({
      plugins: [{ name: 'host-formats', accessTokenFormats: [signed, second] }, choosing],
    })
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    const written: [boolean, boolean, number][] = []
    for (const format of [undefined, 'second', 'opaque']) {
      const { body } = await flow.request(report, { ...grant, format })
      const { status } = await flow.photos(body.access_token)
      const isOfSecond = (await second.decode(body.access_token)) !== undefined
      written.push([isOfSecond, opaque.test(body.access_token), status])
    }
    expect(written).toEqual([
      [false, false, 200],
      [true, false, 200],
      [false, true, 200],
    ])
    expect(refusalOf(await flow.request(report, { ...grant, format: 'third' }))).toBe('500 server_error')
  })

  test('a text that two formats claim is a token of the one that wrote it', async () => {
    const twins = [signedFormat('one', 'key'), signedFormat('two', 'key')]
    const { flow, store, clock } = set({ plugins: [{ name: 'host-formats', accessTokenFormats: twins }] })
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const flowWith = (accessTokenFormats: readonly AccessTokenFormat[]) =>
      application({
        clients,
        store,
        clock: clock.read,
        plugins: [{ name: 'host-formats', accessTokenFormats }],
      }).flow
    const turned = flowWith(twins.toReversed())
    expect((await turned.photos(body.access_token)).status).toBe(200)
    const imposter = flowWith([signedFormat('two', 'key')])
    expect((await imposter.photos(body.access_token)).status).toBe(401)
    await imposter.revoke(photoPrint, body.access_token)
    expect((await flow.photos(body.access_token)).status).toBe(200)
    await turned.revoke(photoPrint, body.access_token)
    expect((await flow.photos(body.access_token)).status).toBe(401)
  })

  test('a token of another issuer on the same store is unknown, with the same key too', async () => {
    const { flow, store, clock } = set()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const north = application({
      clients,
      store,
      clock: clock.read,
      issuer: 'http://127.0.0.1',
      plugins: [{ name: 'host-formats', accessTokenFormats: [signed] }],
    }).flow
    expect((await north.photos(body.access_token)).status).toBe(401)
    expect((await north.introspect(report, body.access_token)).body).toEqual({ active: false })
    await north.revoke(photoPrint, body.access_token)
    expect((await flow.photos(body.access_token)).status).toBe(200)
  })

  test('a token that the test kit mints has the format', async () => {
    const { flow, oauth } = set()
    const { access_token } = await mintToken(oauth, { clientId: 'photo-print', subject: 'alice' })
    expect((await flow.photos(access_token)).body).toMatchObject({ subject: 'alice' })
  })
})

describeOnStores('A signer that fails', (stage) => {
  test('spends no code: the client redeems it once the signer is back', async () => {
    const { format, signer } = failingFormat()
    const { flow, failures } = stage({
      clients,
      plugins: [{ name: 'host-formats', accessTokenFormats: [format] }],
    })
    const code = await flow.approve(photoPrint)
    for (const attempt of [1, 2])
      expect([attempt, refusalOf(await flow.redeem(photoPrint, code))]).toEqual([attempt, '500 server_error'])
    expect(failures.at(-1)?.reason).toBe('unexpected')
    signer.isBack = true
    const { body } = await flow.redeem(photoPrint, code)
    expect((await flow.photos(body.access_token)).status).toBe(200)
  })

  test('spends no refresh token, and a refresh without its signature leaves the former tokens good', async () => {
    const { format, signer } = failingFormat()
    const { flow } = stage({ clients, plugins: [{ name: 'host-formats', accessTokenFormats: [format] }] })
    signer.isBack = true
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    signer.isBack = false
    expect(refusalOf(await flow.refresh(photoPrint, body.refresh_token))).toBe('500 server_error')
    signer.isBack = true
    expect((await flow.photos(body.access_token)).status).toBe(200)
    const first = await flow.refresh(photoPrint, body.refresh_token)
    signer.isBack = false
    expect(refusalOf(await flow.refresh(photoPrint, body.refresh_token))).toBe('500 server_error')
    signer.isBack = true
    expect((await flow.refresh(photoPrint, body.refresh_token)).body).toEqual(first.body)
  })

  test('spends no single use of a grant', async () => {
    const { format, signer } = failingFormat()
    const voucher = voucherGrant(async () => 'alice')
    const kiosk = bent(photoPrint, { grant_types: [voucher.name] })
    const { flow } = stage({
      clients: [kiosk.registration],
      plugins: [
        { name: 'host-grant-types', grantTypes: [voucher] },
        { name: 'host-formats', accessTokenFormats: [format] },
      ],
    })
    const redeem = () =>
      flow.request(kiosk, { grant_type: voucher.name, voucher: 'v-1', scope: 'photos:read' })
    expect(refusalOf(await redeem())).toBe('500 server_error')
    signer.isBack = true
    expect((await redeem()).status).toBe(200)
    expect(refusalOf(await redeem())).toBe('400 invalid_grant')
  })

  test('answers the client with its own error', async () => {
    const { format } = failingFormat(temporarilyUnavailable('signer_unavailable', 'The signer is busy.'))
    const { flow, failures } = stage({
      clients,
      plugins: [{ name: 'host-formats', accessTokenFormats: [format] }],
    })
    const answer = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    expect([answer.body.error, answer.headers['retry-after']]).toEqual(['temporarily_unavailable', '1'])
    expect(failures.at(-1)?.reason).toBe('signer_unavailable')
  })

  test.each<[string, unknown]>([
    ['no text', undefined],
    ['a text longer than a request carries', 'a'.repeat(8193)],
    ['a space', 'a b'],
    ['the form of a refresh token', `rt_${'A'.repeat(82)}`],
  ])('fails by writing %s', async (_what, text) => {
    const encode = jest.fn()
    encode.mockResolvedValue(text)
    const { flow } = stage({
      clients,
      plugins: [{ name: 'host-formats', accessTokenFormats: [signedFormat('signed', 'signed', { encode })] }],
    })
    const code = await flow.approve(photoPrint)
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('500 server_error')
    encode.mockResolvedValue('a'.repeat(8192))
    expect((await flow.redeem(photoPrint, code)).status).toBe(200)
  })
})

describeOnStores('A reader', (stage) => {
  const set = (decode: AccessTokenFormat['decode']) =>
    stage({
      clients,
      plugins: [{ name: 'host-formats', accessTokenFormats: [signedFormat('signed', 'signed', { decode })] }],
    })

  test.each<[string, () => Promise<unknown>]>([
    ['throws', () => Promise.reject(new Error('Not JSON.'))],
    ['answers a wrong reference', async () => ({ authorizationId: '../secret', tokenId: 'A'.repeat(43) })],
  ])('that %s fails the request, everywhere', async (_what, answer) => {
    const decode = jest.fn()
    decode.mockImplementation(answer)
    const { flow, failures } = set(decode)
    expect((await flow.photos('x.y')).status).toBe(500)
    expect(refusalOf(await flow.introspect(report, 'x.y'))).toBe('500 server_error')
    expect(refusalOf(await flow.revoke(photoPrint, 'x.y'))).toBe('500 server_error')
    expect(failures).toHaveLength(3)
  })

  test('that cannot tell says so to the client, and the client keeps its token', async () => {
    const { flow } = set(() => Promise.reject(temporarilyUnavailable('keys_unavailable', 'Try again.')))
    expect((await flow.photos('x.y')).status).toBe(503)
    expect(refusalOf(await flow.introspect(report, 'x.y'))).toBe('503 temporarily_unavailable')
    expect(refusalOf(await flow.revoke(photoPrint, 'x.y'))).toBe('503 temporarily_unavailable')
  })

  test('gets no text that no format can have written', async () => {
    const decode = jest.fn(async () => undefined)
    const { flow } = set(decode)
    for (const text of ['a'.repeat(8193), 'a"b', `at_${'A'.repeat(65)}`, `rt_${'A'.repeat(82)}`])
      expect((await flow.photos(text)).status).toBe(401)
    expect((await flow.introspect(report, 'a"b')).body).toEqual({ active: false })
    expect((await flow.revoke(photoPrint, 'a"b')).body).toEqual({})
    expect(decode).not.toHaveBeenCalled()
    expect((await flow.photos('a'.repeat(8192))).status).toBe(401)
    expect(decode).toHaveBeenCalled()
  })
})

describeOnStores('The authorization endpoint', (stage) => {
  const page = bent(photoBook, {
    grant_types: ['implicit'],
    response_types: ['token'],
  })
  const set = (options: Partial<AuthorizationServerOptions> = {}) =>
    stage({
      clients: [page.registration],
      ...options,
      plugins: withPlugins(
        [implicit(), { name: 'host-formats', accessTokenFormats: [signed] }],
        options.plugins,
      ),
    })
  const asked = { ...authorizationRequest(page), response_type: 'token' }

  test('sends a formatted token in the fragment, and names it in the event', async () => {
    const { flow, oauth } = set()
    const heard = recordEvents(oauth.events)
    const answer = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    const { access_token = '' } = fragmentOf(answer).parameters
    expect(claimsIn(access_token)).toMatchObject({ subject: 'alice', tokenType: 'bearer' })
    expect((await flow.photos(access_token)).status).toBe(200)
    expect(heard.find(({ event }) => event === 'issued')?.credential).toBe(
      credentialFingerprint(access_token),
    )
  })

  test('leaves the request open if the signer fails: the owner approves again', async () => {
    const { format, signer } = failingFormat()
    const { flow } = set({ plugins: [{ name: 'host-formats', accessTokenFormats: [format] }] })
    const form = await flow.ask(asked, 'alice')
    const failed = await flow.decide(form, 'approve', 'alice')
    expect(fragmentOf(failed).parameters).toMatchObject({ error: 'server_error' })
    signer.isBack = true
    const { access_token = '' } = fragmentOf(await flow.decide(form, 'approve', 'alice')).parameters
    expect((await flow.photos(access_token)).status).toBe(200)
  })

  test('formats the token of a response without a page', async () => {
    const type: ResponseType = {
      name: 'code token',
      grantTypes: ['authorization_code'],
      mode: 'fragment',
      approve(proposed, context) {
        const { authorization, code } = approveWithCode(proposed, context)
        const issuance = issueAccessToken(authorization, ['photos:read'], context)
        return { authorization: issuance.authorization, parameters: { code }, issued: issuance.issued }
      },
    }
    const hybrid = bent(photoPrint, { response_types: ['code token'] })
    const { flow } = set({
      clients: [hybrid.registration],
      plugins: [{ name: 'host-response-types', responseTypes: [type] }],
      skipConsent: () => true,
    })
    const answer = await flow.ask({ ...authorizationRequest(hybrid), response_type: 'code token' }, 'alice')
    const { access_token = '', code = '' } = fragmentOf(answer).parameters
    expect((await flow.photos(access_token)).status).toBe(200)
    expect((await flow.redeem(hybrid, code)).status).toBe(200)
    expect((await flow.redeem(hybrid, code)).status).toBe(400)
    expect((await flow.photos(access_token)).status).toBe(401)
  })
})

import type { ExchangeRequest } from '../../lib/index'
import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { formOf } from '../support/flows/flow'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import {
  accessTokenType,
  actingAs,
  anyOwner,
  exchangeOf,
  exchanging,
  service,
  tokenTypeOf,
} from '../support/flows/token-exchange'

describeOnStores('Token exchange', (stage) => {
  test('by impersonation gives a token in the name of the owner, and nothing of it shows an actor', async () => {
    const { flow } = stage(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    const response = await flow.request(service, exchangeOf(accessToken))
    const tokens = tokensOf(response)
    expect(response.body).toEqual({
      access_token: tokens.accessToken,
      issued_token_type: accessTokenType,
      token_type: 'bearer',
      expires_in: 3600,
      scope: 'photos:read',
    })
    expect((await flow.photos(tokens.accessToken)).body).toMatchObject({
      subject: 'alice',
      clientId: 'nightly-report',
      scope: ['photos:read'],
    })
    const { body } = await flow.introspect(service, tokens.accessToken)
    expect(body).toMatchObject({ active: true, sub: 'alice' })
    expect(Object.keys(body)).not.toContain('act')
    expect(Object.keys(body)).not.toContain('aud')
  })

  test('by delegation names the actor, which introspection tells, and the ones before inside it', async () => {
    const { flow } = stage(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    const actor = await actingAs(flow)
    const first = tokensOf(await flow.request(service, exchangeOf(accessToken, actor)))
    expect((await flow.introspect(service, first.accessToken)).body).toMatchObject({
      active: true,
      sub: 'alice',
      act: { sub: 'nightly-report' },
    })
    const bob = await flow.tokens(photoBook, {}, 'bob')
    const second = tokensOf(
      await flow.request(service, exchangeOf(first.accessToken, { ...actor, actor_token: bob.accessToken })),
    )
    const chain = { sub: 'bob', act: { sub: 'nightly-report' } }
    expect((await flow.introspect(service, second.accessToken)).body).toMatchObject({ act: chain })
    const third = tokensOf(await flow.request(service, exchangeOf(second.accessToken)))
    expect((await flow.introspect(service, third.accessToken)).body).toMatchObject({
      sub: 'alice',
      act: chain,
    })
  })

  test('ends a chain of actors that grows too long [exchange-9]', async () => {
    const { flow, failures } = stage(exchanging())
    const actor = await actingAs(flow)
    let { accessToken } = await flow.tokens(photoBook)
    for (let actors = 0; actors < 8; actors++)
      ({ accessToken } = tokensOf(await flow.request(service, exchangeOf(accessToken, actor))))
    expect(refusalOf(await flow.request(service, exchangeOf(accessToken, actor)))).toBe('400 invalid_request')
    expect(failures.at(-1)?.reason).toBe('actor_chain_too_long')
  })

  test('tells the policy all of it, and the policy narrows the scope', async () => {
    const asked: ExchangeRequest[] = []
    const { flow, clock } = stage(
      exchanging((exchange) => {
        asked.push(exchange)
        return { ...anyOwnerNow(exchange), scope: ['photos:print'] }
      }),
    )
    const { accessToken } = await flow.tokens(photoBook)
    const actor = await actingAs(flow)
    const expiresAt = Math.floor(clock.read() / 1000) + 3600
    const form = formOf(exchangeOf(accessToken, { ...actor, scope: 'photos:read' }))
    const targets = 'resource=https://b.example/&resource=urn:a&resource=&audience=two&audience=one'
    const response = await flow.submit('/token', `${form}&${targets}&${inBody}`)
    expect(tokensOf(response).scope).toBe('photos:print')
    expect(asked).toMatchObject([
      {
        client: { client_id: 'nightly-report' },
        subject: {
          tokenType: accessTokenType,
          subject: 'alice',
          clientId: 'photo-book',
          scope: ['photos:read', 'photos:print'],
          audience: [],
          actors: [],
          expiresAt,
          claims: {},
        },
        actor: { subject: undefined, clientId: 'nightly-report' },
        scope: ['photos:read'],
        resource: ['https://b.example/', 'urn:a'],
        audience: ['two', 'one'],
      },
    ])
    const { body } = await flow.introspect(service, tokensOf(response).accessToken)
    expect(body.aud).toEqual(['https://b.example/', 'urn:a', 'two', 'one'])
  })

  test('keeps the targets of a token that is exchanged once more, unless the policy names others [exchange-4]', async () => {
    const { flow } = stage(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    const first = tokensOf(await flow.request(service, exchangeOf(accessToken, { audience: 'one' })))
    const second = tokensOf(await flow.request(service, exchangeOf(first.accessToken)))
    expect((await flow.introspect(service, second.accessToken)).body.aud).toEqual(['one'])
    const third = tokensOf(await flow.request(service, exchangeOf(second.accessToken, { audience: 'two' })))
    expect((await flow.introspect(service, third.accessToken)).body.aud).toEqual(['two'])
  })

  test('gives no token that outlives the one it was exchanged for, nor the one of its actor [exchange-5]', async () => {
    const { flow, clock } = stage(exchanging())
    const actor = await actingAs(flow)
    clock.advance(600)
    const { accessToken } = await flow.tokens(photoBook)
    clock.advance(900)
    const alone = tokensOf(await flow.request(service, exchangeOf(accessToken)))
    expect(alone.expiresIn).toBe(2700)
    const acted = tokensOf(await flow.request(service, exchangeOf(accessToken, actor)))
    expect(acted.expiresIn).toBe(2100)
    const again = tokensOf(await flow.request(service, exchangeOf(alone.accessToken)))
    expect(again.expiresIn).toBe(2700)
    clock.advance(2700)
    expect((await flow.photos(again.accessToken)).status).toBe(401)
  })

  test('gives a token that lives on when the first one is revoked', async () => {
    const { flow } = stage(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    const exchanged = tokensOf(await flow.request(service, exchangeOf(accessToken)))
    await flow.revoke(photoBook, accessToken)
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.photos(exchanged.accessToken)).status).toBe(200)
  })

  test('takes tokens of other types that the host verifies', async () => {
    const now = { seconds: 0 }
    const { flow, clock } = stage(
      exchanging(anyOwner, {
        [tokenTypeOf('jwt')]: async (token) =>
          token === 'good'
            ? { sub: 'carol', exp: now.seconds + 60.5, scope: 'photos:read', act: { sub: 'desk' }, iss: 'x' }
            : undefined,
      }),
    )
    now.seconds = Math.floor(clock.read() / 1000)
    const jwt = { subject_token_type: tokenTypeOf('jwt') }
    const tokens = tokensOf(await flow.request(service, exchangeOf('good', jwt)))
    expect(tokens).toMatchObject({ scope: 'photos:read', expiresIn: 60 })
    expect((await flow.introspect(service, tokens.accessToken)).body).toMatchObject({
      sub: 'carol',
      act: { sub: 'desk' },
    })
    expect(refusalOf(await flow.request(service, exchangeOf('bad', jwt)))).toBe('400 invalid_request')
    clock.advance(60)
    expect(refusalOf(await flow.request(service, exchangeOf('good', jwt)))).toBe('400 invalid_request')
  })
})

const anyOwnerNow = ({ subject, resource, audience }: ExchangeRequest) => ({
  subject: subject.subject ?? 'nobody',
  audience: [...resource, ...audience],
})

const inBody = formOf({ client_id: service.registration.client_id, client_secret: service.secret })

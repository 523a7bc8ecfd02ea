import { invalidTarget } from '../../lib/index'
import type { ExchangeRequest } from '../../lib/paths/grants'
import { mac } from '../../lib/paths/mac'
import { bent, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { type Fields, formOf } from '../support/flows/flow'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import {
  accessTokenType,
  actingAs,
  anyOwner,
  exchangeOf,
  exchanging,
  service,
  tokenExchangeName,
  tokenTypeOf,
} from '../support/flows/token-exchange'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { withPlugins } from '../support/with-plug-ins'

describeOnStores('Token exchange', (stage) => {
  test('ends a chain of actors that grows too long [exchange-9]', async () => {
    const { flow, failures } = stage(exchanging())
    const actor = await actingAs(flow)
    let { accessToken } = await flow.tokens(photoBook)
    for (let actors = 0; actors < 8; actors++)
      ({ accessToken } = tokensOf(await flow.request(service, exchangeOf(accessToken, actor))))
    expect(refusalOf(await flow.request(service, exchangeOf(accessToken, actor)))).toBe('400 invalid_request')
    expect(failures.at(-1)?.reason).toBe('actor_chain_too_long')
  })

  test('passes all of it to the policy, and the policy narrows the scope', async () => {
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

/** The refusal and its reason. */
async function refused(set: Stage, fields: Fields | string): Promise<string> {
  const refusal = refusalOf(await set.flow.submit('/token', `${formOf(fields)}&${inBody}`))
  return `${refusal} ${set.failures.at(-1)?.reason}`
}

describeOnStores('Token exchange refuses', (stage) => {
  test('a token of the type mac, which by itself proves nothing: every observer of a request has it [exchange-7]', async () => {
    const signing = bent(photoBook, { token_type: 'mac' })
    const { flow } = stage({
      ...exchanging(),
      clients: [service.registration, signing.registration],
      plugins: withPlugins([mac({ hosts: ['api.example.com'] })], exchanging().plugins),
    })
    const { body } = await flow.redeem(signing, await flow.approve(signing))
    expect(body.token_type).toBe('mac')
    expect(refusalOf(await flow.request(service, exchangeOf(body.access_token)))).toBe('400 invalid_request')
  })

  test('an invalid subject token, for any reason [exchange-6]', async () => {
    const set = stage(exchanging())
    const { flow, clock } = set
    const tokens = await flow.tokens(photoBook)
    const revoked = await flow.tokens(photoBook)
    await flow.revoke(photoBook, revoked.accessToken)
    const code = await flow.approve(photoPrint)
    const id = tokens.accessToken.slice(3, 25)
    const bad = [
      revoked.accessToken,
      tokens.refreshToken,
      code,
      `at_${id}${'A'.repeat(42)}`,
      `${tokens.accessToken}A`,
      `Bearer ${tokens.accessToken}`,
      '__proto__',
      'eyJhbGciOiJub25lIn0.e30.',
      'a'.repeat(60_000),
    ]
    for (const token of bad)
      expect(await refused(set, exchangeOf(token))).toBe('400 invalid_request subject_token_refused')
    const actor = await actingAs(flow)
    for (const actor_token of bad.filter((token) => token.length < 1000))
      expect(await refused(set, exchangeOf(tokens.accessToken, { ...actor, actor_token }))).toBe(
        '400 invalid_request actor_token_refused',
      )
    clock.advance(3600)
    expect(await refused(set, exchangeOf(tokens.accessToken))).toBe(
      '400 invalid_request subject_token_refused',
    )
  })

  test('a target that is no absolute URI without a fragment, or that is too large', async () => {
    const set = stage(exchanging())
    const { accessToken } = await set.flow.tokens(photoBook)
    for (const resource of [
      '/photos',
      'photos',
      'https://a.example/#',
      'https://a.example/#x',
      'urn:\u00e9',
      '__proto__',
    ])
      expect(await refused(set, exchangeOf(accessToken, { resource }))).toBe(
        '400 invalid_target resource_malformed',
      )
    const good = formOf(exchangeOf(accessToken))
    expect(await refused(set, `${good}&resource=urn:a&resource=b`)).toBe(
      '400 invalid_target resource_malformed',
    )
    expect(await refused(set, `${good}&audience=${'a'.repeat(4097)}`)).toBe(
      '400 invalid_target targets_too_large',
    )
    expect(await refused(set, `${good}${`&audience=${'a'.repeat(64)}`.repeat(65)}`)).toBe(
      '400 invalid_target targets_too_large',
    )
    expect(await refused(set, `${good}&audience=%zz`)).toBe('400 invalid_request parameter_malformed')
    expect(await refused(set, `${good}&resource=%zz`)).toBe('400 invalid_request parameter_malformed')
  })

  test('a target that the policy does not speak of, or refuses [exchange-3]', async () => {
    const set = stage(exchanging(() => ({ subject: 'alice' })))
    const { accessToken } = await set.flow.tokens(photoBook)
    for (const bend of [{ resource: 'https://a.example' }, { audience: 'a' }])
      expect(await refused(set, exchangeOf(accessToken, bend))).toBe('400 invalid_target target_refused')
    tokensOf(await set.flow.request(service, exchangeOf(accessToken)))
    const other = stage(
      exchanging(() => {
        throw invalidTarget('service_unknown', 'No such service.')
      }),
    )
    const { accessToken: token } = await other.flow.tokens(photoBook)
    expect(await refused(other, exchangeOf(token))).toBe('400 invalid_target service_unknown')
  })

  test('a scope that is more than the subject token or the client has [exchange-1]', async () => {
    const set = stage(exchanging())
    const both = await set.flow.tokens(photoBook)
    const print = await set.flow.tokens(photoBook, { scope: 'photos:print' })
    const cases = [
      [both, 'photos:print', 'scope_not_allowed'],
      [both, 'photos:read reports:write', 'scope_exceeded'],
      [both, 'reports:write', 'scope_exceeded'],
      [both, 'photos:read  photos:read', 'scope_malformed'],
      [both, '__proto__', 'scope_not_allowed'],
      [print, 'photos:read', 'scope_exceeded'],
      [print, undefined, 'scope_missing'],
    ] as const
    for (const [{ accessToken }, scope, reason] of cases)
      expect(await refused(set, exchangeOf(accessToken, { scope }))).toBe(`400 invalid_scope ${reason}`)
  })

  test('clients that are not registered for it; one that is public meets the policy [exchange-8]', async () => {
    const phone = bent(photoBook, { grant_types: ['authorization_code', 'refresh_token', tokenExchangeName] })
    const seen: string[] = []
    const options = exchanging((exchange) => {
      seen.push(exchange.client.client_type)
      return anyOwner(exchange)
    })
    const clients = [phone, photoFrame].map(({ registration }) => registration)
    const { flow } = stage({ ...options, clients })
    const { accessToken } = await flow.tokens(phone)
    expect(refusalOf(await flow.request(photoFrame, exchangeOf(accessToken)))).toBe('400 unauthorized_client')
    expect(seen).toEqual([])
    tokensOf(await flow.request(phone, exchangeOf(accessToken)))
    expect(seen).toEqual(['public'])
  })

  test('a token in the query [exchange-10]', async () => {
    const { flow, failures } = stage(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    for (const name of ['subject_token', 'actor_token']) {
      const response = await flow.request(service, exchangeOf(accessToken), `/token?${name}=${accessToken}`)
      expect(refusalOf(response)).toBe('400 invalid_request')
      expect(failures.at(-1)?.reason).toBe('credential_in_query')
    }
  })

  test('temporarily, while the store fails', async () => {
    const { flow, store } = stage(exchanging())
    const { accessToken } = await flow.tokens(photoBook)
    for (const verb of ['read', 'write'] as const) {
      store.begin('fails', verb)
      expect(refusalOf(await flow.request(service, exchangeOf(accessToken)))).toBe(
        '400 temporarily_unavailable',
      )
      store.recover()
    }
    tokensOf(await flow.request(service, exchangeOf(accessToken)))
  })

  test('to grant more than both have, unless the policy says so itself [exchange-2]', async () => {
    const { flow } = stage(exchanging(() => ({ subject: 'alice', scope: ['photos:print', 'photos:print'] })))
    const { accessToken } = await flow.tokens(photoBook, { scope: 'photos:read' })
    expect(tokensOf(await flow.request(service, exchangeOf(accessToken))).scope).toBe('photos:print')
  })
})

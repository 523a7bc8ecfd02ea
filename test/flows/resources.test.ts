import express from 'express'
import request from 'supertest'
import { createAuthorizationServer, memoryStore } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { tokenExchange } from '../../lib/paths/grants'
import type {
  AuthorizationServerOptions,
  ConsentView,
  GrantType,
  PageOptions,
  PriorConsentQuestion,
} from '../../lib/index'
import type { ExchangePolicy } from '../../lib/paths/grants'
import { mintToken } from '../../lib/paths/testing'
import { canonicalOptions } from '../support/flows/application'
import { authorizationRequest, formOf, type RepeatedFields } from '../support/flows/flow'
import { mistakesIn } from '../support/mistakes-of'
import { outcomeOf } from '../support/flows/outcome'
import { fragmentOf } from '../support/flows/redirection'
import {
  askWith,
  both,
  gallery,
  job,
  mountResources,
  photosApi,
  printApi,
  reach,
  reportsApi,
  threeResources,
  widget,
  withResources,
} from '../support/flows/resources'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { anyOwner, exchangeOf } from '../support/flows/token-exchange'
import { tokensOf } from '../support/flows/tokens'

const opener =
  (stage: SetStage) =>
  (...given: Parameters<typeof withResources>): Stage =>
    stage(withResources(...given), { mount: mountResources })

describeOnStores('The resource of a request', (stage) => {
  const open = opener(stage)

  test('is passed to a consent page of the host, and to skipConsent [consent-33]', async () => {
    const seen: (ConsentView | PriorConsentQuestion)[] = []
    const consent: PageOptions['consent'] = (_request, response, view) => {
      seen.push(view)
      response.end()
    }
    const skipConsent = (_request: unknown, question: PriorConsentQuestion) => {
      seen.push(question)
      return false
    }
    const set = open({ pages: { consent }, skipConsent })
    await askWith(set, both)
    const values = [
      { value: photosApi, description: 'Photos of the API' },
      { value: printApi, description: printApi },
    ]
    const facts = [{ name: 'resource', label: 'Access to', values }]
    expect(seen).toMatchObject([{ facts }, { facts }])
  })

  test('gives a repeated refresh the same token in whatever order the resources come', async () => {
    const set = open()
    const { refreshToken } = await set.flow.tokens(gallery, {
      ...both,
      scope: 'photos:read reports:write',
      resource: [photosApi, printApi, reportsApi],
    })
    const again = async (resource: readonly string[]) =>
      tokensOf(await set.flow.refresh(gallery, refreshToken, { resource })).accessToken
    const first = await again([photosApi, printApi])
    expect(await again([printApi, photosApi])).toBe(first)
    expect(await again([printApi])).not.toBe(first)
  })
})

describeOnStores('The resource of a grant that begins', (stage) => {
  const open = opener(stage)

  test('is the bound that a grant type of the host sets, and nothing else', async () => {
    const voucher = (data: unknown) => {
      const extensionData = { 'resource-indicators': data }
      const grant = { subject: 'alice', scope: ['photos:read'], refreshToken: false, extensionData }
      return { name: 'urn:example:voucher', parameters: [], handle: async () => Object.assign({ grant }) }
    }
    const redeem = async (data: unknown, resource?: string) => {
      const clients = [{ ...job.registration, grant_types: ['urn:example:voucher'] }]
      const set = open({
        clients,
        plugins: [{ name: 'host-grant-types', grantTypes: [voucher(data)] }],
        defaultResource: printApi,
      })
      const response = await set.flow.request(job, { grant_type: 'urn:example:voucher', resource })
      if (response.status !== 200) return outcomeOf(response)
      return (await reach(set, tokensOf(response).accessToken)).passed
    }
    expect(await redeem([photosApi])).toEqual([photosApi])
    expect(await redeem([photosApi, printApi], photosApi)).toEqual([photosApi])
    expect(await redeem([photosApi], printApi)).toBe('400 invalid_target')
    expect(await redeem(['https://elsewhere.example'])).toBe('400 invalid_target')
    expect(await redeem([])).toBe('400 invalid_target')
    expect(await redeem(photosApi)).toBe('500 server_error')
  })
})

describeOnStores('An exchanged token', (stage) => {
  const open = opener(stage)
  const generous: ExchangePolicy = ({ resource }) => ({
    subject: 'alice',
    scope: ['photos:read', 'photos:print', 'reports:write'],
    audience: resource,
  })
  const ofPhotos = (set: Stage) => set.flow.tokens(gallery, { scope: 'photos:read', resource: photosApi })

  test('is for the resources of the subject token, and has no more scope, whatever the policy grants [exchange-12]', async () => {
    const set = open({ defaultResource: printApi }, generous)
    const { accessToken } = await ofPhotos(set)
    const exchanged = tokensOf(await set.flow.request(job, exchangeOf(accessToken)))
    expect(exchanged.scope).toBe('photos:read')
    expect((await reach(set, exchanged.accessToken)).passed).toEqual([photosApi])
    const { body } = await set.flow.introspect(job, exchanged.accessToken)
    expect(body).toMatchObject({ aud: [photosApi] })
    // The print API has more scope than this subject token.
    const reading = await set.flow.tokens(gallery, { scope: 'photos:read', resource: printApi })
    const narrow = tokensOf(await set.flow.request(job, exchangeOf(reading.accessToken)))
    expect(narrow.scope).toBe('photos:read')
  })

  test('may be for fewer resources than the subject token', async () => {
    const set = open()
    const { accessToken } = await set.flow.tokens(gallery, both)
    const asked = { ...exchangeOf(accessToken), resource: photosApi }
    const exchanged = tokensOf(await set.flow.request(job, asked))
    expect((await reach(set, exchanged.accessToken)).passed).toEqual([photosApi])
    const back = { ...exchangeOf(exchanged.accessToken), resource: [photosApi, printApi] }
    expect(outcomeOf(await set.flow.request(job, back))).toBe('400 invalid_target')
  })

  test('is for what the policy names, if the request names nothing', async () => {
    const set = open({}, () => ({ subject: 'alice', audience: ['a name of the host', printApi] }))
    const { accessToken } = await set.flow.tokens(gallery, both)
    const exchanged = tokensOf(await set.flow.request(job, exchangeOf(accessToken)))
    expect((await reach(set, exchanged.accessToken)).passed).toEqual([printApi])
    expect((await set.flow.introspect(job, exchanged.accessToken)).body).toMatchObject({
      aud: [printApi, 'a name of the host'],
    })
    const wider = await ofPhotos(set)
    expect(outcomeOf(await set.flow.request(job, exchangeOf(wider.accessToken)))).toBe('400 invalid_target')
  })

  const elsewhere = 'https://backend.example/api'
  const named = { subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' }
  const verified = { [named.subject_token_type]: () => ({ sub: 'alice', exp: 9e9, scope: 'photos:read' }) }

  test.each<[string, RepeatedFields, readonly string[]]>([
    ['an audience', { audience: 'backend' }, ['backend']],
    ['a resource', { resource: elsewhere }, [elsewhere]],
    ['both', { resource: elsewhere, audience: 'backend' }, [elsewhere, 'backend']],
  ])(
    'for %s outside the option is for this target alone, and opens no guarded resource [exchange-13]',
    async (_what, target, aud) => {
      const grantTypes = [tokenExchange({ policy: anyOwner, tokenTypes: verified })]
      const set = open({ defaultResource: photosApi, plugins: [...grantTypes] })
      const { accessToken } = await ofPhotos(set)
      for (const subject of [exchangeOf(accessToken), exchangeOf('signed elsewhere', named)]) {
        const exchanged = tokensOf(await set.flow.request(job, formFields(subject, target)))
        expect(exchanged.scope).toBe('photos:read')
        expect((await reach(set, exchanged.accessToken)).passed).toEqual([])
        const { body } = await set.flow.introspect(job, exchanged.accessToken)
        expect(body).toMatchObject({ active: true, aud })
        // Once more: for the same target without a word, and for nothing that this token does not open.
        const again = tokensOf(await set.flow.request(job, exchangeOf(exchanged.accessToken)))
        expect((await reach(set, again.accessToken)).passed).toEqual([])
        expect((await set.flow.introspect(job, again.accessToken)).body).toMatchObject({ aud })
        const back = formFields(exchangeOf(exchanged.accessToken), { resource: photosApi })
        expect(outcomeOf(await set.flow.request(job, back))).toBe('400 invalid_target')
      }
    },
  )

  test.each<[string, readonly string[], RepeatedFields]>([
    ['one of two resources', [photosApi], { resource: [photosApi, printApi] }],
    ['no resource of the option', ['backend'], { resource: photosApi }],
    ['another target outside the option', ['backend'], { resource: elsewhere }],
    ['no resource, and an audience', ['backend'], { resource: photosApi, audience: 'backend' }],
    ['nothing', [], { resource: elsewhere }],
  ])('for which the policy approves %s is refused', async (_what, audience, asked) => {
    const set = open({ defaultResource: photosApi }, () => ({ subject: 'alice', audience }))
    const { accessToken } = await set.flow.tokens(gallery, both)
    const response = await set.flow.request(job, formFields(exchangeOf(accessToken), asked))
    expect(outcomeOf(response)).toBe('400 invalid_target')
  })

  test.each<[RepeatedFields, string]>([
    [{ resource: [photosApi, printApi] }, '400 invalid_target'],
    [{ resource: photosApi, scope: 'photos:read photos:print' }, '400 invalid_scope'],
    [{ scope: 'reports:write' }, '400 invalid_scope'],
  ])('with %j is refused to a token for the photos: %s', async (bend, outcome) => {
    const set = open({}, generous)
    const { accessToken } = await ofPhotos(set)
    expect(outcomeOf(await set.flow.request(job, formFields(exchangeOf(accessToken), bend)))).toBe(outcome)
  })
})

describeOnStores('A grant type of the host that exchanges a token of this server', (stage) => {
  const open = opener(stage)
  const name = 'urn:example:delegation'

  /** Delegates the presented token with these members of the grant; tells what the new token opens. */
  const delegate = async (members: object, resource?: string) => {
    const delegation: GrantType = {
      name,
      parameters: ['presented'],
      async handle({ parameters, findAccess }) {
        const subjectToken = await findAccess(parameters.require('presented'))
        const grant = { subject: 'alice', scope: ['photos:read'], refreshToken: false, extensionData: {} }
        return { grant: { ...grant, subjectToken, ...members } }
      },
    }
    const owned = { ...gallery.registration, grant_types: ['authorization_code', 'refresh_token'] }
    const clients = [owned, { ...job.registration, grant_types: [name] }]
    const set = open({
      clients,
      plugins: [{ name: 'host-grant-types', grantTypes: [delegation] }],
      defaultResource: printApi,
    })
    const subject = await set.flow.tokens(gallery, { scope: 'photos:read', resource: photosApi })
    const asked = { grant_type: name, presented: subject.accessToken, resource }
    const response = await set.flow.request(job, asked)
    if (response.status !== 200) return outcomeOf(response)
    return (await reach(set, tokensOf(response).accessToken)).passed
  }
  const bound = (resources: readonly string[]) => ({ extensionData: { 'resource-indicators': resources } })

  test('opens no resource beyond those of the presented token, whatever the grant names [exchange-12]', async () => {
    expect(await delegate({})).toEqual([photosApi])
    expect(await delegate(bound([photosApi, printApi]))).toEqual([photosApi])
    expect(await delegate(bound([photosApi, printApi]), printApi)).toBe('400 invalid_target')
    expect(await delegate(bound([printApi]))).toBe('400 invalid_target')
    expect(await delegate(bound([printApi]), photosApi)).toBe('400 invalid_target')
    expect(await delegate({ audience: [photosApi, printApi] })).toBe('400 invalid_target')
    expect(await delegate({ audience: [printApi] })).toBe('400 invalid_target')
    expect(await delegate({ audience: [photosApi] })).toEqual([photosApi])
  })

  test('opens none that its bound and its targets do not share', async () => {
    expect(await delegate({ ...bound([photosApi, printApi]), audience: [photosApi] })).toEqual([photosApi])
    expect(await delegate({ ...bound([photosApi]), audience: ['backend'] })).toBe('400 invalid_target')
    expect(await delegate({ audience: ['backend'] })).toEqual([])
  })
})

const formFields = (fields: RepeatedFields, bend: RepeatedFields): RepeatedFields => ({ ...fields, ...bend })

describeOnStores('A token of the authorization endpoint', (stage) => {
  const open = opener(stage)

  test.each(['token', 'code token'])('%s is for the resource of the request', async (response_type) => {
    const set = open()
    const query = { ...authorizationRequest(widget), response_type, scope: undefined, resource: photosApi }
    const page = await set.flow.ask(formOf(query), 'alice')
    const { parameters } = fragmentOf(await set.flow.decide(page, 'approve', 'alice'))
    expect(parameters).toMatchObject({ scope: 'photos:read', expires_in: '600' })
    const { passed, access } = await reach(set, parameters['access_token'] ?? '')
    expect(passed).toEqual([photosApi])
    expect(access).toMatchObject({ audience: [photosApi] })
  })
})

describeOnStores('Tokens from before the option resources', (stage) => {
  const later = (bend: Partial<AuthorizationServerOptions>) => {
    const { resources: _without, ...without } = withResources()
    const before = stage(without)
    const { store, clock } = before
    const options = withResources({ store, clock: clock.read, ...bend })
    return { before, after: stage(options, { mount: mountResources }) }
  }

  test('count as tokens for the default resource, and refresh as such', async () => {
    const { before, after } = later({ defaultResource: printApi })
    const { accessToken, refreshToken } = await before.flow.tokens(gallery)
    const { passed, access } = await reach(after, accessToken)
    expect(passed).toEqual([printApi])
    expect(access).toMatchObject({ audience: [printApi] })
    const other = { resource: photosApi }
    expect(outcomeOf(await after.flow.refresh(gallery, refreshToken, other))).toBe('400 invalid_target')
    const next = tokensOf(await after.flow.refresh(gallery, refreshToken, { resource: printApi }))
    expect(next.scope).toBe('photos:read photos:print')
    expect((await reach(after, next.accessToken)).passed).toEqual([printApi])
  })

  test('are for nothing if there are several resources and no default', async () => {
    const { before, after } = later({})
    const { accessToken, refreshToken } = await before.flow.tokens(gallery)
    expect((await reach(after, accessToken)).passed).toEqual([])
    expect(outcomeOf(await after.flow.refresh(gallery, refreshToken))).toBe('400 invalid_target')
    expect((await after.flow.introspect(job, accessToken)).body).not.toHaveProperty('aud')
  })
})

describe('A guard', () => {
  const server = (bend: object) =>
    createAuthorizationServer({ ...canonicalOptions, resources: threeResources, ...bend })
  const always = { issuer: 'http://localhost', resources: threeResources }
  const lone = (bend: object) => createBearerGuard({ ...always, store: memoryStore(), ...bend })
  const known = Object.keys(threeResources).join(', ')

  it.each<[string, (guard: ReturnType<typeof server>['bearerGuard']) => unknown, string]>([
    [
      'names no resource',
      (guard) => guard(),
      `resource is missing, and there is no defaultResource: it must be one of ${known}.`,
    ],
    [
      'names an unknown one',
      (guard) => guard({ resource: 'https://x.example' }),
      `resource must be one of ${known}.`,
    ],
    [
      'needs a scope of another',
      (guard) => guard('photos:print', { resource: photosApi }),
      `scope must hold scopes of the resource ${photosApi}: photos:read.`,
    ],
  ])('that %s does not start', (_what, make, mistake) => {
    for (const guard of [server({}).bearerGuard, lone({})])
      expect(mistakesIn(() => make(guard))).toEqual([mistake])
  })

  it('stands for the default resource, or for the only one', () => {
    for (const bend of [
      { defaultResource: photosApi },
      { resources: { [photosApi]: threeResources[photosApi] } },
    ])
      for (const guard of [server(bend).bearerGuard, lone(bend)]) {
        expect(mistakesIn(() => guard('photos:read'))).toEqual([])
        expect(mistakesIn(() => guard('photos:print'))).toHaveLength(1)
      }
  })

  it('has no resource if the server names none', () => {
    const { bearerGuard } = server({ resources: undefined })
    expect(mistakesIn(() => bearerGuard({ resource: photosApi }))).toEqual([
      'resource needs the option resources of the server.',
    ])
  })
})

describeOnStores('Without the option resources', (stage) => {
  const { resources: _without, ...without } = withResources()
  /** A server whose option is set, and one of another process whose option is not, on one store. */
  const pair = () => {
    const bound = opener(stage)()
    const { store, clock } = bound
    return { bound, unbound: stage({ ...without, store, clock: clock.read }) }
  }
  const photos = { scope: 'photos:read', resource: photosApi }

  test('a lone guard refuses tokens for certain resources, and accepts those of a server that names none [token-32]', async () => {
    const { bound, unbound } = pair()
    const { store, clock } = bound
    const guard = createBearerGuard({
      issuer: 'http://localhost',
      store,
      clock: clock.read,
      storeDeadline: 10,
    })
    const reasons: string[] = []
    guard.events.on('refused', ({ reason }) => reasons.push(reason))
    const app = express().get('/photos', guard('photos:read'), (_req, res) => void res.end())
    const call = async ({ accessToken }: { readonly accessToken: string }) =>
      (await request(app).get('/photos').set('Authorization', `Bearer ${accessToken}`)).status
    const all = await bound.flow.tokens(gallery, both)
    expect(await call(all)).toBe(401)
    const narrowed = tokensOf(await bound.flow.refresh(gallery, all.refreshToken, { resource: printApi }))
    expect(await call(narrowed)).toBe(401)
    expect(reasons).toEqual(['token_resource', 'token_resource'])
    expect(await call(await unbound.flow.tokens(gallery))).toBe(200)
  })

  test('a server refuses tokens for certain resources at guards, introspection and exchange [token-32]', async () => {
    const { bound, unbound } = pair()
    const { accessToken, refreshToken } = await bound.flow.tokens(gallery, photos)
    expect((await unbound.flow.photos(accessToken)).status).toBe(401)
    expect(unbound.failures.map(({ reason }) => reason)).toContain('token_resource')
    expect((await unbound.flow.introspect(job, accessToken)).body).toEqual({ active: false })
    const exchanged = await unbound.flow.request(job, exchangeOf(accessToken))
    expect(outcomeOf(exchanged)).toBe('400 invalid_request')
    const next = tokensOf(await unbound.flow.refresh(gallery, refreshToken))
    expect((await unbound.flow.photos(next.accessToken)).status).toBe(401)
    expect((await reach(bound, next.accessToken)).passed).toEqual([photosApi])
  })
})

describeOnStores('A minted token', (stage) => {
  test('is for the resource that a test names, or for the default one', async () => {
    const set = opener(stage)({ defaultResource: printApi })
    const minted = async (bend: {
      readonly resource?: string | readonly string[]
      readonly scope?: string
    }) => mintToken(set.oauth, { clientId: 'gallery', subject: 'alice', ...bend })
    const usual = await minted({})
    expect((await reach(set, usual.access_token)).passed).toEqual([printApi])
    const chosen = await minted({ resource: [photosApi, reportsApi] })
    expect(chosen).toMatchObject({ scope: 'photos:read reports:write', expires_in: 60 })
    expect((await reach(set, chosen.access_token)).passed).toEqual([photosApi, reportsApi])
    const wrong = minted({ resource: photosApi, scope: 'reports:write' })
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_scope' })
  })
})

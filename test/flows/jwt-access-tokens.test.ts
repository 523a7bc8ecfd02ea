import express from 'express'
import type { Extension } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtAccessTokenReader, jwtAccessTokens } from '../../lib/paths/jwt'
import { application, canonicalOptions } from '../support/flows/application'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { partOf, sharedKeys, withJwts } from '../support/flows/jwt-tokens'
import { gallery, job, mountResources, photosApi, printApi, reportsApi } from '../support/flows/resources'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { decideWith, workspaceQuestion } from '../support/flows/owner-decision'
import { codeOf } from '../support/flows/redirection'
import { refusalOf } from '../support/flows/tokens'

const { issuer } = canonicalOptions
const ofPhotos = { scope: 'photos:read', resource: photosApi }

const opener =
  (stage: SetStage) =>
  (...given: Parameters<typeof withJwts>): Stage =>
    stage(withJwts(...given), { mount: mountResources })

async function jwtFor({ flow }: Pick<Stage, 'flow'>, bend = {}) {
  const { body } = await flow.redeem(gallery, await flow.approve(gallery, { ...ofPhotos, ...bend }))
  return { token: String(body.access_token), refreshToken: String(body.refresh_token), body }
}

const call = ({ flow }: Pick<Stage, 'flow'>, token: string, path = '/api/photos') =>
  flow.open(path, undefined, { Authorization: `Bearer ${token}` })

const published = async ({ flow }: Stage) => (await flow.open('/.well-known/jwks.json')).body

describeOnStores('A JWT access token', (stage) => {
  const open = opener(stage)

  test('has the choice of its owner as a claim, and each guard gives it to routes', async () => {
    const choices = () => workspaceQuestion('w1', 'w2')
    const set = stage({ ...withJwts(), choices }, { mount: mountResources })
    const jwks = await published(set)
    const page = await set.flow.ask({ ...authorizationRequest(gallery), ...ofPhotos }, 'alice')
    const code = codeOf(await decideWith(set.flow, page, { choice: 'w2' }))
    const { body } = await set.flow.redeem(gallery, code)
    const next = await set.flow.refresh(gallery, String(body.refresh_token))
    const { store, clock, oauth } = set
    const { resources = {} } = withJwts()
    const remote = createBearerGuard({
      issuer,
      store,
      clock: clock.read,
      resources,
      choices: true,
      plugins: [jwtAccessTokenReader({ jwks })],
    })
    const of = { resource: photosApi, verify: 'signature' } as const
    const app = express()
    const end: express.RequestHandler = (request, response) => void response.json(request.oauth)
    app.get('/own', oauth.bearerGuard('photos:read', { resource: photosApi }), end)
    app.get('/own-signature', oauth.bearerGuard('photos:read', of), end)
    app.get('/store', remote('photos:read', { resource: photosApi }), end)
    app.get('/signature', remote('photos:read', of), end)
    const guarded = new Flow(app)
    for (const token of [body.access_token, next.body.access_token].map(String)) {
      expect(partOf(token, 1)).toMatchObject({ choice: { workspace: 'w2' } })
      for (const path of ['/own', '/own-signature', '/store', '/signature']) {
        const answer = await guarded.open(path, undefined, { Authorization: `Bearer ${token}` })
        expect([path, answer.body.choice]).toEqual([path, { workspace: 'w2' }])
      }
    }
  })

  test.each([
    ['that has expired', 3600],
    ['of a process whose clock is ahead', -30],
  ])('%s finds its record: a revocation with it ends the authorization', async (_what, seconds) => {
    const set = open()
    const { token, refreshToken } = await jwtFor(set)
    const other = await jwtFor(set)
    set.clock.advance(seconds)
    expect((await set.flow.revoke(job, token)).status).toBe(200)
    expect((await call(set, token)).status).toBe(seconds > 0 ? 401 : 200)
    expect((await set.flow.revoke(gallery, token)).status).toBe(200)
    expect((await call(set, token)).status).toBe(401)
    expect(refusalOf(await set.flow.refresh(gallery, refreshToken))).toBe('400 invalid_grant')
    expect((await set.flow.refresh(gallery, other.refreshToken)).status).toBe(200)
  })
})

describeOnStores('Claims', (stage) => {
  const open = opener(stage)

  test('of the host stand in the token; it gets the request and the grant', async () => {
    const claims = jest.fn(async () => ({ roles: ['editor'] }))
    const { token } = await jwtFor(open({}, { claims }))
    expect(partOf(token, 1)).toMatchObject({ roles: ['editor'], sub: 'alice' })
    expect(claims).toHaveBeenCalledWith(
      {
        client: expect.objectContaining({ client_id: 'gallery' }),
        grantType: 'authorization_code',
        subject: 'alice',
      },
      { subject: 'alice', scope: ['photos:read'], audience: [photosApi], expiresAt: expect.any(Number) },
    )
  })
})

describeOnStores('The format of a resource', (stage) => {
  const mixed = {
    [photosApi]: { scopes: ['photos:read'] },
    [printApi]: { scopes: ['photos:read', 'photos:print'], accessTokenFormat: 'opaque' },
    [reportsApi]: { scopes: ['reports:write'], accessTokenFormat: 'at+jwt' },
  }

  test('decides the format of its tokens; a request for two formats is invalid_target', async () => {
    const set = opener(stage)({ resources: mixed })
    const tokenFor = async (resource: string, scope: string) =>
      (await set.flow.request(job, { grant_type: 'client_credentials', scope, resource })).body.access_token
    expect(await tokenFor(printApi, 'photos:print')).toMatch(/^at_/)
    expect(await tokenFor(photosApi, 'photos:read')).toMatch(/^ey/)
    expect(await tokenFor(reportsApi, 'reports:write')).toMatch(/^ey/)
    const both = await set.flow.request(job, {
      grant_type: 'client_credentials',
      scope: 'photos:read',
      resource: [photosApi, printApi],
    })
    expect(refusalOf(both)).toBe('400 invalid_target')
    expect(set.failures.at(-1)?.reason).toBe('resource_formats_differ')
    const same = await set.flow.request(job, {
      grant_type: 'client_credentials',
      scope: 'photos:read reports:write',
      resource: [photosApi, reportsApi],
    })
    expect(partOf(same.body.access_token, 1)['aud']).toEqual([photosApi, reportsApi])
  })
})

describeOnStores('A guard', (stage) => {
  const open = opener(stage)

  test('that verifies the signature alone asks no store, so a revocation does not end the token', async () => {
    const set = open({}, {}, sharedKeys())
    set.app.get(
      '/signed',
      set.oauth.bearerGuard('photos:read', { resource: photosApi, verify: 'signature' }),
      (request, response) => void response.json(request.oauth),
    )
    const { token } = await jwtFor(set)
    const signed = () => call(set, token, '/signed')
    expect((await signed()).body).toMatchObject({
      subject: 'alice',
      clientId: 'gallery',
      scope: ['photos:read'],
      audience: [photosApi],
      authorizationId: expect.stringMatching(/^[\w-]{22}$/),
    })
    await set.flow.revoke(gallery, token)
    expect((await call(set, token)).status).toBe(401)
    expect((await signed()).status).toBe(200)
    const forPrint = await jwtFor(set, { scope: 'photos:print', resource: printApi })
    expect((await call(set, forPrint.token, '/signed')).status).toBe(401)
    set.clock.advance(600)
    expect((await signed()).status).toBe(401)
  })

  test('that verifies signatures looks up opaque tokens, and tokens that are bound to a key', async () => {
    const bound: Extension = {
      name: 'bound',
      tokenParameters: ['bind'],
      issue: ({ parameters }) => (parameters.get('bind') === undefined ? undefined : { tokenData: 'thumb' }),
      describe: ({ tokenData }) => (tokenData === undefined ? undefined : { cnf: { jkt: 'thumb' } }),
    }
    const keys = sharedKeys()
    const set = open({ plugins: [keys, jwtAccessTokens({ keys }), bound] })
    const before = application(
      { ...withJwts({ store: set.store, clock: set.clock.read, plugins: [] }) },
      { mount: mountResources },
    )
    set.app.get(
      '/signed',
      set.oauth.bearerGuard('photos:read', { resource: photosApi, verify: 'signature' }),
      (_request, response) => void response.end(),
    )
    const opaque = (await before.flow.tokens(gallery, ofPhotos)).accessToken
    const code = await set.flow.approve(gallery, ofPhotos)
    const tied = (await set.flow.redeem(gallery, code, { bind: 'yes' })).body.access_token
    for (const token of [opaque, tied]) {
      expect((await call(set, token, '/signed')).status).toBe(200)
      await set.flow.revoke(gallery, token)
      expect((await call(set, token, '/signed')).status).toBe(401)
    }
  })

  test('cannot verify signatures without a format that has them', () => {
    const { oauth } = stage()
    expect(() => oauth.bearerGuard('photos:read', { verify: 'signature' })).toThrow(
      /verify needs an access token format with a signature/,
    )
    expect(() => Reflect.apply(oauth.bearerGuard, oauth, ['photos:read', { verify: 'jwt' }])).toThrow(
      /verify must be 'store' or 'signature'/,
    )
  })
})

describeOnStores('A rolling upgrade', (stage) => {
  test('from opaque tokens to JWTs and back refuses no live token on any process', async () => {
    const set = stage(withJwts({ plugins: [] }), { mount: mountResources })
    const { store, clock } = set
    const process = (issues: boolean) =>
      application(withJwts({ store, clock: clock.read, storeDeadline: 10 }, { issues }), {
        mount: mountResources,
      })
    const accepting = process(false)
    const issuing = process(true)
    const tokens: string[] = []
    const issueOn = async (one: Pick<Stage, 'flow'>, form: RegExp) => {
      const { token } = await jwtFor(one)
      expect(token).toMatch(form)
      tokens.push(token)
    }
    const allPass = async (...processes: readonly Pick<Stage, 'flow'>[]) => {
      for (const one of processes)
        for (const token of tokens) expect((await call(one, token)).status).toBe(200)
    }
    await issueOn(set, /^at_/)
    await issueOn(accepting, /^at_/)
    await allPass(set, accepting)
    await issueOn(issuing, /^ey/)
    await issueOn(accepting, /^at_/)
    await allPass(accepting, issuing)
    await allPass(process(false))
  })
})

describe('The options', () => {
  const keys = sharedKeys()
  const construct = (options: Parameters<typeof application>[0]) => () => application(options)

  test('resources are needed, because a token names its audience', () => {
    expect(construct({ plugins: [keys, jwtAccessTokens({ keys })] })).toThrow(
      /plugins\[1\] cannot be opened: needs the option resources, because a JWT access token names its audience/,
    )
  })

  test('the keys stand before the plug-ins that sign with them', () => {
    expect(construct(withJwts({ plugins: [jwtAccessTokens({ keys }), keys] }))).toThrow(
      /plugins\[\d\] cannot be opened: needs its signingKeys\(\) before it in plugins/,
    )
  })

  test('the algorithm is one of the keys', () => {
    expect(construct(withJwts({}, { algorithm: 'RS256' }))).toThrow(
      /plugins\[\d\] cannot be opened: has the algorithm RS256, but its keys have ES256/,
    )
  })

  test('every mistake is named at construction', () => {
    expect(() =>
      Reflect.apply(jwtAccessTokens, undefined, [{ algorithm: 'HS256', issues: 1, claims: {}, key: 1 }]),
    ).toThrow(
      /keys is missing: it must be signingKeys.*algorithm must be one of ES256, EdDSA, RS256, PS256.*issues must be true or false.*claims must be a function.*key is not known here/s,
    )
    expect(() =>
      Reflect.apply(jwtAccessTokenReader, undefined, [{ jwks_uri: 'http://api.example/jwks' }]),
    ).toThrow(/jwks_uri must be/)
    expect(
      construct(
        withJwts({ resources: { [photosApi]: { scopes: ['photos:read'], accessTokenFormat: 'jwt' } } }),
      ),
    ).toThrow(/accessTokenFormat is "jwt", but must be one of at\+jwt, opaque/)
  })
})

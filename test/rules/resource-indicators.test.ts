import { outcomeOf } from '../support/flows/outcome'
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
  withResources,
} from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import type { Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

const open = (...given: Parameters<typeof withResources>): Stage =>
  setStage(withResources(...given), { mount: mountResources })

test('[RIN-2, MCP-7, MCP-33] the resource of a request is what the token is for: its guard passes, and the others know no such token [token-32]', async () => {
  const set = open()
  const { accessToken, scope } = await set.flow.tokens(gallery, {
    scope: 'photos:read',
    resource: photosApi,
  })
  expect(scope).toBe('photos:read')
  const { passed, access } = await reach(set, accessToken)
  expect(passed).toEqual([photosApi])
  expect(access).toMatchObject({ audience: [photosApi], subject: 'alice', scope: ['photos:read'] })
  const refused = await set.flow.open('/api/print', undefined, { Authorization: `Bearer ${accessToken}` })
  expect(refused.status).toBe(401)
  expect(refused.get('WWW-Authenticate')).toContain('error="invalid_token"')
  expect(set.failures.map(({ reason }) => reason)).toContain('token_resource')
})

test('[RIN-3] a resource may come several times; the token is for all of them, in the order of the option', async () => {
  const set = open()
  const tokens = await set.flow.tokens(gallery, { ...both, resource: [printApi, photosApi, printApi] })
  expect(tokens).toMatchObject({ scope: 'photos:read photos:print', expiresIn: 600 })
  const { passed, access } = await reach(set, tokens.accessToken)
  expect(passed).toEqual([photosApi, printApi])
  expect(access).toMatchObject({ audience: [photosApi, printApi] })
})

test('[RIN-1, MCP-6] a resource may be spelt with another case of scheme and host, and without the path of a root', async () => {
  const set = open()
  for (const resource of ['HTTPS://PRINT.example', 'https://print.example/']) {
    const { accessToken } = await set.flow.tokens(gallery, { scope: 'photos:print', resource })
    expect((await reach(set, accessToken)).access).toMatchObject({ audience: [printApi] })
  }
})

test.each([
  ['unknown', 'https://elsewhere.example'],
  ['another path', `${photosApi}/`],
  ['another case of the path', 'https://api.example/Photos'],
  ['with the default port', 'https://print.example:443'],
  ['relative', '/photos'],
  ['a word', 'photos'],
  ['with a fragment', `${photosApi}#1`],
  ['with an empty fragment', `${photosApi}#`],
  ['with a space', `${photosApi} `],
  ['the name of a member of every object', '__proto__'],
  ['one of two unknown', [photosApi, 'https://elsewhere.example']],
  ['nine times', Array.from({ length: 9 }, () => photosApi)],
])('[RIN-1, MCP-6] a resource is refused by redirect: %s', async (_what, resource) => {
  expect(outcomeOf(await askWith(open(), { scope: 'photos:read', resource }))).toBe('redirect invalid_target')
})

test('[RIN-3] a resource may come eight times, and empty ones do not count', async () => {
  const resource = [...Array.from({ length: 8 }, () => photosApi), '', '']
  expect(outcomeOf(await askWith(open(), { resource }))).toBe('question')
})

test('[RIN-4] the resource is the default one if the request names none, or names nothing', async () => {
  const set = open({ defaultResource: printApi })
  for (const resource of [undefined, '', ['', '']]) {
    const { accessToken } = await set.flow.tokens(gallery, { scope: 'photos:print', resource })
    expect((await reach(set, accessToken)).passed).toEqual([printApi])
  }
})

test('[RIN-4] a resource must be named if there are several and none is the default', async () => {
  expect(outcomeOf(await askWith(open(), {}))).toBe('redirect invalid_target')
})

test('[RIN-4] the resource is the only one of the server if the request names none', async () => {
  const only = { [photosApi]: threeResources[photosApi] }
  const { flow } = setStage(withResources({ resources: only }))
  const { accessToken, scope } = await flow.tokens(gallery, { scope: undefined })
  expect(scope).toBe('photos:read')
  expect((await flow.photos(accessToken)).body).toMatchObject({ audience: [photosApi] })
})

test.each([
  ['none of the resources has one of its values', 'photos:read reports:write', [photosApi, printApi]],
  ['only another resource has it', 'photos:print', photosApi],
])('[RIN-5] the scope is refused if %s', async (_what, scope, resource) => {
  expect(outcomeOf(await askWith(open(), { scope, resource }))).toBe('redirect invalid_scope')
})

test('[RIN-5] a scope that is left out is the default scope as far as the resources have it', async () => {
  const set = open()
  const tokens = await set.flow.tokens(gallery, { scope: undefined, resource: [photosApi, reportsApi] })
  expect(tokens).toMatchObject({ scope: 'photos:read reports:write', expiresIn: 60 })
  const none = { scope: undefined, resource: reportsApi }
  expect(outcomeOf(await askWith(open({ defaultScope: 'photos:read' }), none))).toBe('redirect invalid_scope')
})

test('[RIN-6] the resource of a code and of a refresh narrows the token, its scope and its lifetime; the next refresh may have all again [token-33]', async () => {
  const set = open()
  const code = await set.flow.approve(gallery, both)
  const first = tokensOf(await set.flow.redeem(gallery, code, { resource: printApi }))
  expect(first).toMatchObject({ scope: 'photos:read photos:print', expiresIn: 3600 })
  expect((await reach(set, first.accessToken)).access).toMatchObject({ audience: [printApi] })
  const second = tokensOf(await set.flow.refresh(gallery, first.refreshToken, { resource: photosApi }))
  expect(second).toMatchObject({ scope: 'photos:read', expiresIn: 600 })
  expect((await reach(set, second.accessToken)).passed).toEqual([photosApi])
  const third = tokensOf(await set.flow.refresh(gallery, second.refreshToken))
  expect(third).toMatchObject({ scope: 'photos:read photos:print', expiresIn: 600 })
  expect((await reach(set, third.accessToken)).passed).toEqual([photosApi, printApi])
})

test('[RIN-6] a resource that was not approved is refused as often as it comes, and uses nothing up [token-33]', async () => {
  const set = open()
  const code = await set.flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
  const wrong = [printApi, 'https://elsewhere.example', 'photos', `${photosApi}#1`, [photosApi, printApi]]
  for (const resource of wrong)
    expect(outcomeOf(await set.flow.redeem(gallery, code, { resource }))).toBe('400 invalid_target')
  const { refreshToken } = tokensOf(await set.flow.redeem(gallery, code, { resource: photosApi }))
  for (const resource of wrong)
    expect(outcomeOf(await set.flow.refresh(gallery, refreshToken, { resource }))).toBe('400 invalid_target')
  expect(outcomeOf(await set.flow.refresh(gallery, refreshToken))).toBe('tokens')
})

test('[RIN-6] a resource that does not have the named scope is refused, and the refresh token stays good [token-33]', async () => {
  const set = open()
  const { refreshToken } = await set.flow.tokens(gallery, both)
  const wrong = { resource: photosApi, scope: 'photos:read photos:print' }
  expect(outcomeOf(await set.flow.refresh(gallery, refreshToken, wrong))).toBe('400 invalid_scope')
  const right = tokensOf(await set.flow.refresh(gallery, refreshToken, { ...wrong, scope: 'photos:read' }))
  expect(right.scope).toBe('photos:read')
})

test('[RIN-7] introspection tells the resources of a token as its audience', async () => {
  const { flow } = open()
  const asked = { grant_type: 'client_credentials', scope: 'photos:read', resource: [photosApi, printApi] }
  const { body } = await flow.request(job, asked)
  expect((await flow.introspect(job, body.access_token)).body.aud).toEqual([photosApi, printApi])
})

import type { Response } from 'supertest'
import { photoBook, photoPrint, bent, nightlyReport, photoFrame } from '../support/flows/clients'
import { authorizationRequest, redemption, type Fields, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf, refusalOf } from '../support/flows/tokens'
import { application } from '../support/flows/application'
import { errorPageOf } from '../support/flows/error-page'
import { consentFormOf } from '../support/flows/consent-form'
import { describeOnStores } from '../support/flows/stores-of-run'
import { codeOf } from '../support/flows/redirection'
import { rawRequest } from '../support/flows/raw-request'

describe('Attacks on redirections', () => {
  /** The attacker has a client of their own, too. */
  const evil = bent(photoPrint, { client_id: 'evil', redirect_uris: ['https://evil.example/callback'] })
  const clients = [photoBook, evil].map(({ registration }) => registration)
  const atTheAttacker = { ...authorizationRequest(photoBook), redirect_uri: 'https://evil.example/callback' }

  // Authlib sent the user agent on where another fault was found first (CVE-2026-44681).
  test.each<[string, Fields]>([
    ['nothing else is wrong', {}],
    ['the response type is missing', { response_type: undefined }],
    ['the response type is unknown', { response_type: 'id_token' }],
    ['the scope is malformed', { scope: '"' }],
    ['the scope is empty', { scope: '' }],
    ['the challenge is missing', { code_challenge: undefined }],
    ['the challenge method is plain', { code_challenge_method: 'plain' }],
  ])('no redirection URI of an attacker is answered where %s [redirect-4]', async (_, bend) => {
    const { flow, store } = setStage({ clients })
    for (const owner of ['alice', undefined]) {
      expect(errorPageOf(await flow.ask({ ...atTheAttacker, ...bend }, owner))).toBe('400 invalid_request')
      const posted = await flow.submit('/authorize', { ...atTheAttacker, ...bend }, owner)
      expect(errorPageOf(posted)).toBe('400 invalid_request')
    }
    expect(store.calls).toEqual({ read: 0, write: 0, remove: 0, add: 0, list: 0 })
  })
})

test('a credential is worth nothing in the place of another, under no prefix [token-7]', async () => {
  const { flow } = setStage()
  const page = await flow.ask(authorizationRequest(photoBook), 'alice')
  const [consentToken = ''] = Object.values(consentFormOf(page, '/authorize').fields)
  const code = await flow.approve(photoBook)
  const { accessToken, refreshToken } = await flow.tokens(photoBook)
  const all = { consentToken, code, accessToken, refreshToken }
  expect(Object.values(all).every((credential) => /^[a-z]{2}_/.test(credential))).toBe(true)
  // As it is, behind the prefix of the place, and behind prefix and identifier of what belongs there.
  const guises = (own: string) =>
    Object.values(all).flatMap((credential) =>
      credential === own
        ? []
        : [credential, own.slice(0, 3) + credential.slice(3), own.slice(0, 25) + credential.slice(25)],
    )
  for (const guise of guises(accessToken)) expect((await flow.photos(guise)).status).toBe(401)
  for (const guise of guises(code))
    expect(refusalOf(await flow.redeem(photoBook, guise))).toBe('400 invalid_grant')
  for (const guise of guises(refreshToken))
    expect(refusalOf(await flow.refresh(photoBook, guise))).toBe('400 invalid_grant')
  for (const guise of guises(consentToken)) {
    const { action, fields } = consentFormOf(page, '/authorize')
    const forged = Object.fromEntries(Object.keys(fields).map((name) => [name, guise]))
    const response = await flow.submit(action, { ...forged, decision: 'approve' }, 'alice')
    expect(errorPageOf(response)).toMatch(/^400 /)
  }
  // The victim notices nothing of it.
  expect((await flow.photos(accessToken)).status).toBe(200)
  tokensOf(await flow.refresh(photoBook, refreshToken))
  tokensOf(await flow.redeem(photoBook, code))
  expect((await flow.decide(page, 'approve', 'alice')).status).toBe(303)
})

test('a client cannot widen at the token endpoint what the owner approved [token-9]', async () => {
  const { flow } = setStage()
  const wide = { scope: 'photos:read photos:print' }
  const code = await flow.approve(photoBook, { scope: 'photos:read' })
  const tokens = tokensOf(await flow.redeem(photoBook, code, wide))
  expect(tokens.scope).toBe('photos:read')
  expect((await flow.photos(tokens.accessToken)).body).toMatchObject({ scope: ['photos:read'] })
  expect(refusalOf(await flow.refresh(photoBook, tokens.refreshToken, wide))).toBe('400 invalid_scope')
})

test('a client that is named like an owner is not taken for that owner [token-19]', async () => {
  const alice = bent(nightlyReport, { client_id: 'alice' })
  const clients = [alice.registration, photoPrint.registration]
  const { flow } = setStage({ clients })
  const { accessToken } = tokensOf(
    await flow.request(alice, { grant_type: 'client_credentials', scope: 'photos:read' }),
  )
  const { body } = await flow.photos(accessToken)
  expect(body).toMatchObject({ clientId: 'alice' })
  expect(body).not.toHaveProperty('subject')
})

describeOnStores('A process that starts later', (stage) => {
  // Keycloak took a rotated refresh token again after a restart (CVE-2026-9802).
  test('still knows a refresh token that was rotated before it started, and ends what a thief would get [refresh-4]', async () => {
    const { flow, store, clock } = stage()
    const first = await flow.tokens(photoBook)
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    clock.advance(31)
    const later = application({ store, clock: clock.read, storeDeadline: 10 })
    expect(refusalOf(await later.flow.refresh(photoBook, first.refreshToken))).toBe('400 invalid_grant')
    expect((await later.flow.photos(second.accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoBook, second.refreshToken))).toBe('400 invalid_grant')
  })
})

describe('Attacks on a consent', () => {
  const asked = authorizationRequest(photoBook)

  // Doorkeeper passed a public client that was approved once, without authentication (CVE-2023-34246).
  test.each([photoBook, photoPrint])(
    'who was approved before is asked for again: $registration.client_id [consent-6]',
    async (client) => {
      const { flow } = setStage()
      await flow.tokens(client)
      const silent = await flow.ask({ ...authorizationRequest(client), prompt: 'none' }, 'alice')
      expect(outcomeOf(silent)).toBe('redirect consent_required')
      const again = await flow.ask(authorizationRequest(client), 'alice')
      expect(again.status).toBe(200)
      expect(again.headers).not.toHaveProperty('location')
      expect(consentFormOf(again, '/authorize').fields).not.toHaveProperty('decision')
    },
  )

  // better-auth believed a name in the body without a login (CVE-2025-61928).
  test.each(['subject', 'sub', 'user_id', 'owner', 'resource_owner', 'login_hint', 'id_token_hint'])(
    'a request cannot say by %s who the owner is [consent-7]',
    async (name) => {
      const { flow } = setStage()
      const claim = { [name]: 'alice' }
      const nobody = await flow.ask({ ...asked, ...claim })
      expect(nobody.get('Location')).toMatch(/^\/login\?return_to=/)
      const page = await flow.ask({ ...asked, ...claim }, 'mallory')
      const { action, fields } = consentFormOf(page, '/authorize')
      const code = codeOf(await flow.submit(action, { ...fields, ...claim, decision: 'approve' }, 'mallory'))
      const { accessToken } = tokensOf(await flow.redeem(photoBook, code, claim))
      expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'mallory' })
    },
  )

  // dex gave the code to every holder of the id of the request (CVE-2022-39222).
  test('the consent token of a page gives its code to its owner alone, and no longer once it is redeemed [consent-5]', async () => {
    const { flow } = setStage()
    const page = await flow.ask(asked, 'alice')
    const { action, fields } = consentFormOf(page, '/authorize')
    const stolen = { ...fields, decision: 'approve' }
    const thief = async () => [
      await flow.submit(action, stolen, 'mallory'),
      await flow.submit(action, stolen),
      await flow.open(`/authorize?${formOf(stolen)}`, 'mallory'),
    ]
    for (const response of await thief()) expect(errorPageOf(response)).toMatch(/^400 /)
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    for (const response of await thief()) {
      expect(errorPageOf(response)).toMatch(/^400 /)
      expect(response.text).not.toContain(code)
    }
    tokensOf(await flow.redeem(photoBook, code))
    for (const response of await thief()) expect(errorPageOf(response)).toMatch(/^400 /)
    const late = await flow.submit(action, stolen, 'alice')
    expect(late.get('Location')).toBeUndefined()
    expect(late.text).not.toContain(code)
  })

  // Keycloak put a request into a cookie in clear (CVE-2024-4540); Passport kept a session over a login (CVE-2022-25896).
  test('no answer sets a cookie: nothing of a request lies in the browser, and no session is touched [consent-31]', async () => {
    const { flow } = setStage()
    const answers: Response[] = [await flow.ask(asked), await flow.ask(asked, 'alice')]
    for (const decision of ['approve', 'deny'])
      answers.push(await flow.decide(await flow.ask(asked, 'alice'), decision, 'alice'))
    for (const client of [photoBook, photoPrint, photoFrame]) {
      const response = await flow.redeem(client, await flow.approve(client))
      const { accessToken, refreshToken } = tokensOf(response)
      answers.push(response, await flow.refresh(client, refreshToken), await flow.photos(accessToken))
      answers.push(await flow.revoke(client, refreshToken), await flow.photos(accessToken))
    }
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 303, 401]))
    for (const { headers } of answers) expect(headers).not.toHaveProperty('set-cookie')
  })
})

const form = ['Content-Type', 'application/x-www-form-urlencoded']

// better-auth was got around by //path (GHSA-x732-6j76-qmhm), Keycloak by ;x in a path (CVE-2026-0976).
test.each(['//token', '/token/', '/TOKEN', '/./token', '/x/../token', '/token;x=1', '/%74oken', '/token%2f'])(
  'no spelling of the path leads past client authentication: %s [edge-7]',
  async (path) => {
    const { app, flow } = setStage()
    const code = await flow.approve(photoPrint)
    const body = formOf({ ...redemption(photoPrint, code), client_id: 'photo-print' })
    const { status, text } = await rawRequest(app, { method: 'POST', path, headers: form, body })
    expect([401, 404]).toContain(status)
    expect(text).not.toContain('access_token')
    tokensOf(await flow.redeem(photoPrint, code))
  },
)

test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
  'no header makes a POST of a GET: %s [edge-8]',
  async (name) => {
    const { app, flow, store } = setStage()
    const code = await flow.approve(photoBook)
    const before = { ...store.calls }
    const grant = formOf({ ...redemption(photoBook, code), client_id: 'photo-book', _method: 'POST' })
    const path = `/token?${grant}`
    const { status } = await rawRequest(app, { method: 'GET', path, headers: [name, 'POST'] })
    expect(status).toBe(405)
    expect(store.calls).toEqual(before)
    tokensOf(await flow.redeem(photoBook, code))
  },
)

// The MCP SDK took any Host on loopback (GHSA-w48q-cv73-mx4w).
test.each(['Host', 'X-Forwarded-Host', 'Forwarded', 'X-Original-URL', 'X-Rewrite-URL'])(
  'what %s claims stands in no answer [edge-5]',
  async (name) => {
    const { flow } = setStage()
    const claim = { [name]: name === 'Forwarded' ? 'host=evil.example' : 'evil.example' }
    const asked = `/authorize?${formOf(authorizationRequest(photoBook))}`
    const answers = [
      await flow.open('/.well-known/oauth-authorization-server', undefined, claim),
      await flow.open(asked, undefined, claim),
      await flow.open(asked, 'alice', claim),
      await flow.decide(await flow.open(asked, 'alice', claim), 'approve', 'alice', claim),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 303, 200, 303])
    for (const { text, headers } of answers) expect(`${text}${JSON.stringify(headers)}`).not.toContain('evil')
  },
)

// Keycloak took a tab, and more, for the space behind the scheme (GHSA-gv94-wp4h-vv8p).
test.each(['\t', '\u00A0', '=', ':', '/', ', Bearer ', ' "', ' \t'])(
  'a token behind Bearer and %j is not taken [token-6]',
  async (between) => {
    const { app, flow } = setStage()
    const { accessToken } = await flow.tokens(photoBook)
    const headers = ['Authorization', `Bearer${between}${accessToken}`]
    const { status, text } = await rawRequest(app, { method: 'GET', path: '/photos', headers })
    expect([400, 401]).toContain(status)
    expect(text).not.toContain('alice')
    expect((await flow.photos(accessToken)).status).toBe(200)
  },
)

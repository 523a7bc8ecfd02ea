import type { ScopeOptions } from '../../lib/index'
import { consentFormOf } from '../support/flows/consent-form'
import { bent } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { claimsIn, identityStage, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { codeOf } from '../support/flows/redirection'
import { claimsRequest, logIn, userInfo } from '../support/flows/relying-party'
import { setStage } from '../support/flows/stage'
import { describeOnStores } from '../support/flows/stores-of-run'

const owner = { name: 'Ada', groups: ['admins'], team_lead: true, shoe_size: 39 }
const cluster = bent(relyingParty, { scope: 'openid profile groups' })
const groups: ScopeOptions = {
  description: 'See your teams',
  claims: ['groups', 'team_lead'],
}
const scopes = {
  openid: 'Know who you are',
  profile: 'See your name',
  groups,
  'photos:read': 'See your photos',
}
const scope = 'openid groups'

describeOnStores('Claims by a scope of the host', (stage) => {
  const open = (identity = {}, member = {}, groupsToo = groups) =>
    identityStage(stage)(
      { scopes: { ...scopes, groups: groupsToo }, clients: [{ ...cluster.registration, ...member }] },
      { claims: () => owner, ...identity },
    )
  const told = async (set: ReturnType<typeof open>, bend = {}) => {
    const { accessToken, idToken } = await logIn(set, { scope, ...bend })
    const { body } = await userInfo(set, accessToken)
    return [claimsIn(idToken), body].map((claims) => Object.keys(owner).filter((name) => name in claims))
  }

  test('come at UserInfo; a token without the scope has none of them', async () => {
    const set = open()
    expect(await told(set)).toEqual([[], ['groups', 'team_lead']])
    expect(await told(set, { scope: 'openid profile' })).toEqual([[], ['name']])
    const { body } = await set.flow.open('/.well-known/openid-configuration')
    expect(body.claims_supported).toEqual(expect.arrayContaining(['name', 'groups', 'team_lead']))
  })

  test.each([
    ['the server', { idTokenClaims: true }, {}],
    ['the client', {}, { id_token_claims: true }],
  ])('stand in the ID token, as those of OpenID Connect, by an option for %s', async (_whom, ...options) => {
    const set = open(...options)
    expect(await told(set)).toEqual([
      ['groups', 'team_lead'],
      ['groups', 'team_lead'],
    ])
    expect(await told(set, { scope: 'openid profile' })).toEqual([['name'], ['name']])
  })

  test('stay out of the ID token of a client that declines, and come once if the client also names them', async () => {
    const asked = claimsRequest({ id_token: { groups: null } })
    expect(await told(open({ idTokenClaims: true }, { id_token_claims: false }))).toEqual([
      [],
      expect.anything(),
    ])
    const [inIdToken] = await told(open({ idTokenClaims: true, claimsParameter: true }), asked)
    expect(inIdToken).toEqual(['groups', 'team_lead'])
  })

  test('stand on the page, and are left out with a scope that the owner leaves out', async () => {
    const set = open({ idTokenClaims: true }, {}, { ...groups, optional: true })
    const page = await set.flow.ask({ ...authorizationRequest(cluster), scope }, 'alice')
    expect(page.text).toMatch(/About you.*groups.*team lead/s)
    const { fields } = consentFormOf(page, '/authorize')
    const sent = await set.flow.submit('/authorize', { ...fields, decision: 'approve' }, 'alice')
    const { body } = await set.flow.redeem(cluster, codeOf(sent))
    expect(body.scope).toBe('openid')
    expect(claimsIn(body.id_token)).not.toHaveProperty('groups')
  })
})

test('A claim that the server itself writes, or whose name is none, is a mistake at construction', () => {
  const opening = (claims: readonly string[]) => () =>
    setStage(withIdentity({ scopes: { ...scopes, groups: { ...groups, claims } }, clients: [] }))
  expect(opening(['groups', 'sub'])).toThrow(/cannot give "sub" by a scope/)
  expect(opening(['two words'])).toThrow(
    /scopes\["groups"\]\.claims must be a list of at most 50 names of claims/,
  )
})

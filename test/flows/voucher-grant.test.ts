import { voucherGrant } from '../../docs/examples/voucher-grant'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const grantType = voucherGrant(async (voucher) => (voucher === 'PAPER-1' ? 'alice' : undefined))
const grant_type = grantType.name
const bearer = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
const clients = [bearer.registration, photoBook.registration]
const request = { grant_type, voucher: 'PAPER-1', scope: 'photos:read' }

const open = (stage: SetStage) => stage({ grantTypes: [grantType], clients })

describeOnStores('An extension grant from outside', (stage) => {
  test('gives tokens in the name of its holder, which can be refreshed', async () => {
    const { flow } = open(stage)
    const tokens = tokensOf(await flow.request(bearer, request))
    expect((await flow.photos(tokens.accessToken)).body).toMatchObject({
      subject: 'alice',
      clientId: bearer.registration.client_id,
      scope: ['photos:read'],
    })
    tokensOf(await flow.refresh(bearer, tokens.refreshToken))
  })

  test('of 20 parallel requests with one voucher exactly one wins', async () => {
    const { flow } = open(stage)
    const responses = await Promise.all(Array.from({ length: 20 }, () => flow.request(bearer, request)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(19)
  })

  test('refuses as the grant type does, and does not spend the voucher on a refusal', async () => {
    const { flow } = open(stage)
    const ask = async (bend: object) => refusalOf(await flow.request(bearer, { ...request, ...bend }))
    expect(await ask({ voucher: 'PAPER-2' })).toBe('400 invalid_grant')
    expect(await ask({ voucher: '' })).toBe('400 invalid_request')
    expect(await ask({ scope: 'reports:write' })).toBe('400 invalid_scope')
    tokensOf(await flow.request(bearer, request))
  })

  test('is refused to a client that is not registered for it', async () => {
    const { flow } = open(stage)
    expect(refusalOf(await flow.request(photoBook, request))).toBe('400 unauthorized_client')
  })

  test('is unknown to a server that does not have it', async () => {
    const { flow } = stage()
    expect(refusalOf(await flow.request(photoPrint, request))).toBe('400 unsupported_grant_type')
  })

  test('stands in the metadata', async () => {
    const { flow } = open(stage)
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body.grant_types_supported).toContain(grant_type)
  })
})

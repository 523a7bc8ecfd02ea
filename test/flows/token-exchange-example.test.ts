import { photosExchange } from '../../docs/examples/token-exchange'
import { bent, photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { actingAs, exchangeOf, service, tokenExchangeName } from '../support/flows/token-exchange'

const print = { audience: 'https://print.example' }
const phone = bent(photoBook, { grant_types: ['authorization_code', 'refresh_token', tokenExchangeName] })
const clients = [service.registration, phone.registration]
const options = { grantTypes: [photosExchange], clients }

describeOnStores('The policy of the documentation', (stage) => {
  test('lets a service act for the owner at one other service', async () => {
    const { flow } = stage(options)
    const { accessToken } = await flow.tokens(phone)
    const exchange = exchangeOf(accessToken, { ...(await actingAs(flow)), ...print })
    const tokens = tokensOf(await flow.request(service, exchange))
    expect(tokens.scope).toBe('photos:print')
    expect((await flow.introspect(service, tokens.accessToken)).body).toMatchObject({
      sub: 'alice',
      aud: ['https://print.example'],
      act: { sub: 'nightly-report' },
    })
  })

  test('refuses everything else', async () => {
    const { flow } = stage(options)
    const { accessToken } = await flow.tokens(phone)
    const narrow = await flow.tokens(phone, { scope: 'photos:read' })
    const actor = await actingAs(flow)
    const ask = async (token: string, bend: object, client = service) =>
      refusalOf(await flow.request(client, exchangeOf(token, { ...actor, ...print, ...bend })))
    expect(await ask(accessToken, { audience: 'https://evil.example' })).toBe('400 invalid_target')
    expect(await ask(accessToken, { audience: undefined })).toBe('400 invalid_target')
    expect(await ask(accessToken, { resource: 'https://print.example' })).toBe('400 invalid_target')
    expect(await ask(accessToken, { actor_token: undefined, actor_token_type: undefined })).toBe(
      '400 invalid_request',
    )
    expect(await ask(accessToken, { actor_token: accessToken })).toBe('400 invalid_request')
    expect(await ask(narrow.accessToken, {})).toBe('400 invalid_request')
    expect(await ask(actor['actor_token'] ?? '', {})).toBe('400 invalid_request')
    expect(await ask(accessToken, {}, phone)).toBe('400 invalid_request')
  })
})

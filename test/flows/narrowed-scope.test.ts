import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { deviceStage, television } from '../support/flows/device-stage'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { pushingStage } from '../support/flows/pushing'
import { setStage } from '../support/flows/stage'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const reader = bent(photoBook, { scope: 'photos:read' })
const clients = [reader.registration, nightlyReport.registration]
const scope = 'photos:read photos:print'

describeOnStores('With narrowScope, a request for more than the client may have', (stage) => {
  const open = (narrowScope = true) => stage({ narrowScope, clients })

  test('gets what the client may have: the page shows it, and the response says it', async () => {
    const { flow } = open()
    const page = await flow.ask({ ...authorizationRequest(reader), scope }, 'alice')
    expect(page.text).toContain('See your photos')
    expect(page.text).not.toContain('Print your photos')
    const tokens = await flow.tokens(reader, { scope })
    expect(tokens.scope).toBe('photos:read')
    const job = { grant_type: 'client_credentials', scope: 'reports:write photos:print' }
    expect(tokensOf(await flow.request(nightlyReport, job)).scope).toBe('reports:write')
  })

  test.each([
    ['unknown in part', 'photos:read photos:burn'],
    ['wholly beyond the client', 'photos:print'],
    ['malformed', 'photos:read  photos:print'],
    ['empty', ' '],
  ])('is invalid_scope if it is %s', async (_how, wrong) => {
    const { flow } = open()
    expect(outcomeOf(await flow.ask({ ...authorizationRequest(reader), scope: wrong }, 'alice'))).toBe(
      'redirect invalid_scope',
    )
    const job = { grant_type: 'client_credentials', scope: wrong.replace('photos:read', 'reports:write') }
    expect(refusalOf(await flow.request(nightlyReport, job))).toBe('400 invalid_scope')
  })

  test('is invalid_scope at a refresh, and without the option', async () => {
    const { flow } = open()
    const { refreshToken } = await flow.tokens(reader, { scope })
    expect(refusalOf(await flow.refresh(reader, refreshToken, { scope }))).toBe('400 invalid_scope')
    expect(tokensOf(await flow.refresh(reader, refreshToken)).scope).toBe('photos:read')
    const strict = open(false).flow
    const asked = { ...authorizationRequest(reader), scope }
    expect(outcomeOf(await strict.ask(asked, 'alice'))).toBe('redirect invalid_scope')
  })
})

test('With narrowScope, requests that devices and clients push are narrowed alike', async () => {
  const device = bent(television, { scope: 'photos:read' })
  const { begin, poll, enter, decide } = await deviceStage(device, [], {
    narrowScope: true,
    clients: [device.registration],
  })
  const { body } = await begin({ scope })
  const page = await enter(body.user_code)
  expect(page.text).not.toContain('Print your photos')
  await decide(page, 'approve')
  expect(tokensOf(await poll(device, { device_code: body.device_code })).scope).toBe('photos:read')
  const { flow, pushed } = pushingStage(setStage, { narrowScope: true, clients })
  const brought = await pushed({ scope }, reader)
  expect((await flow.ask(brought, 'alice')).text).not.toContain('Print your photos')
})

import { createHash } from 'node:crypto'
import { application } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, basic } from '../support/flows/flow'
import { heardFrom } from '../support/events'

const credentialFingerprint = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
const { secret } = photoPrint
const refreshToken = `rt_${'A'.repeat(80)}`
const shut = bent(photoBook, { client_id: 'shut-book', disabled: true })
const clients = [...everyClient, shut].map(({ registration }) => registration)

const open = (options = {}) => {
  const set = application({ clients, ...options })
  return { ...set, heard: heardFrom(set.oauth.events) }
}

describe('A client id that nobody has', () => {
  test.each(['/token', '/revoke', '/introspect'])(
    'is told as 8 digits of its digest at %s: it may be a secret in the wrong place [input-22]',
    async (path) => {
      const { flow, heard } = open({ rateLimit: { clients: { attempts: 3, seconds: 60 } } })
      await flow.submit(path, {}, undefined, { Authorization: basic(secret, 'photo-print') })
      await flow.submit(path, { client_id: secret, client_secret: 'photo-print' })
      await flow.submit(path, { client_id: refreshToken })
      // Over the limit, too.
      await flow.submit(path, {}, undefined, { Authorization: basic(secret, 'photo-print') })
      expect(heard.map(({ event, clientId }) => [event, clientId])).toEqual([
        ['refused', credentialFingerprint(secret)],
        ['refused', credentialFingerprint(secret)],
        ['refused', credentialFingerprint(refreshToken)],
        ['throttled', credentialFingerprint(secret)],
      ])
    },
  )

  test('is told as 8 digits of its digest at the authorization endpoint, and no page shows it', async () => {
    const { flow, heard } = open()
    for (const client_id of [secret, refreshToken]) {
      const page = await flow.ask({ ...authorizationRequest(photoBook), client_id }, 'alice')
      expect(page.status).toBe(400)
      expect(page.text).not.toContain(client_id)
    }
    expect(heard.map(({ clientId }) => clientId)).toEqual([
      credentialFingerprint(secret),
      credentialFingerprint(refreshToken),
    ])
  })
})

describe('A client id that somebody has', () => {
  test('is told as it is, whatever the request is refused for', async () => {
    const { flow, heard } = open()
    const asked = authorizationRequest(photoBook)
    await flow.submit('/token', {}, undefined, { Authorization: basic('photo-print', 'guess') })
    await flow.request(shut, {})
    await flow.request(nightlyReport, { grant_type: 'refresh_token', refresh_token: 'none' })
    await flow.ask({ ...asked, redirect_uri: 'https://evil.example/' }, 'alice')
    await flow.ask({ ...asked, client_id: 'shut-book' }, 'alice')
    await flow.ask({ ...asked, scope: 'none' }, 'alice')
    expect(heard.map(({ clientId }) => clientId)).toEqual([
      'photo-print',
      'shut-book',
      'nightly-report',
      'photo-book',
      'shut-book',
      'photo-book',
    ])
  })

  test('is that of the client which asked, not of the one whose code it showed', async () => {
    const { flow, heard } = open()
    const code = await flow.approve(photoPrint)
    await flow.redeem(photoBook, code)
    expect(heard.at(-1)).toMatchObject({ event: 'refused', clientId: 'photo-book' })
  })
})

import { type DocumentFetch, formPost, pushedAuthorizationRequests, requestObjects } from '../../lib/index'
import { application } from '../support/flows/application'
import { from, guess, trusting } from '../support/flows/guesses'
import { loginOf } from '../support/flows/login-stage'
import { postedFormOf } from '../support/flows/posted-form'
import { objectClaims, requestObject, signingPrint } from '../support/flows/request-object'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

describeOnStores('A signed request with a response in a form', (stage) => {
  test('crosses two processes: request, login, decision and tokens', async () => {
    const options = {
      clients: [signingPrint.registration],
      plugIns: [requestObjects({ required: true }), formPost()],
    }
    const first = stage(options)
    const second = application({ ...options, store: first.store, clock: first.clock.read, storeDeadline: 10 })
    const now = Math.floor(first.clock.read() / 1000)
    const request = requestObject({ ...objectClaims(now), response_mode: 'form_post' })
    const { back } = loginOf(await first.flow.ask({ client_id: 'photo-print', request }))
    // The object ends while Alice logs in.
    first.clock.advance(300)
    const page = await second.flow.open(back, 'alice')
    const { action, fields } = postedFormOf(await first.flow.decide(page, 'approve', 'alice'))
    expect([action, fields['state']]).toEqual(['https://print.example/callback', 'af0ifjsldkj'])
    const again = postedFormOf(await second.flow.decide(page, 'approve', 'alice'))
    expect(again.fields).toEqual(fields)
    const { accessToken } = tokensOf(await second.flow.redeem(signingPrint, String(fields['code'])))
    expect((await first.flow.photos(accessToken)).body).toMatchObject({ subject: 'alice' })
  })

  test('is denied in a form, by another process than the one that asked', async () => {
    const options = { clients: [signingPrint.registration], plugIns: [requestObjects(), formPost()] }
    const first = stage(options)
    const second = application({ ...options, store: first.store, clock: first.clock.read, storeDeadline: 10 })
    const now = Math.floor(first.clock.read() / 1000)
    const request = requestObject({ ...objectClaims(now), response_mode: 'form_post' })
    const page = await first.flow.ask({ client_id: 'photo-print', request }, 'alice')
    const denied = postedFormOf(await second.flow.decide(page, 'deny', 'alice'))
    expect(denied).toMatchObject({ fields: { error: 'access_denied' }, submitsItself: true })
  })
})

test.each(['/par', '/authorize'])(
  'the keys for an object that comes to %s are fetched for its sender, and not for a network over its limit',
  async (path) => {
    const { jwks: _, ...unsigned } = signingPrint.registration
    const jwks_uri = 'https://print.example/jwks.json'
    const client = { ...signingPrint, registration: { ...unsigned, jwks_uri } }
    const asked: (string | undefined)[] = []
    const documents: DocumentFetch = {
      async fetch(_url, _size, inquiry) {
        asked.push(inquiry?.sender?.address())
        throw new Error('No answer.')
      },
    }
    const set = application(
      {
        clients: [client.registration],
        plugIns: [requestObjects({ documents }), pushedAuthorizationRequests()],
        limits: { networks: { clients: { attempts: 2, seconds: 60 } } },
      },
      trusting,
    )
    const request = requestObject(objectClaims(Math.floor(Date.now() / 1000)))
    const send = async (address: string) => {
      const flow = from(set, address)
      if (path === '/par') return flow.request(client, { request }, path)
      return flow.ask({ client_id: 'photo-print', request }, 'alice')
    }
    await guess(from(set, '192.0.2.8'))
    await guess(from(set, '192.0.2.8'))
    await send('192.0.2.8')
    expect(asked).toEqual([])
    await send('192.0.2.7')
    expect(asked).toEqual(['192.0.2.7'])
  },
)

import { options } from '../../docs/examples/device-token'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { basic, formOf } from '../support/flows/flow'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describe('device token', () => {
  const [registration] = options.clients
  if (registration === undefined) throw new Error('The example registers no client.')
  const camera = { registration }

  describeOnStores('The token type of docs/examples/device-token.ts', (stage) => {
    test('fits in from outside: the token is good with its key alone', async () => {
      const { flow, failures } = stage(options)
      const { body, status } = await flow.redeem(camera, await flow.approve(camera))
      expect(status).toBe(200)
      expect(body).toMatchObject({
        token_type: registration.token_type,
        device_key: expect.stringMatching(/^[\w-]{43}$/),
      })
      const call = (headers: Record<string, string>) => flow.open('/photos', undefined, headers)
      const Authorization = `Device ${body.access_token}`
      const answer = await call({ Authorization, 'Device-Key': body.device_key })
      expect(answer.body).toMatchObject({ subject: 'alice', tokenType: registration.token_type })
      for (const headers of [
        { Authorization },
        { Authorization, 'Device-Key': 'another' },
        { Authorization: `Bearer ${body.access_token}`, 'Device-Key': body.device_key },
      ])
        expect((await call(headers)).status).toBe(401)
      expect(failures.map(({ reason }) => reason)).toEqual([
        'device_key_wrong',
        'device_key_wrong',
        'token_of_another_type',
      ])
    })

    test('gives each refreshed token a key of its own, and its repetition the same one', async () => {
      const { flow } = stage(options)
      const first = (await flow.redeem(camera, await flow.approve(camera))).body
      const second = (await flow.refresh(camera, first.refresh_token)).body
      const again = (await flow.refresh(camera, first.refresh_token)).body
      expect(second.device_key).not.toBe(first.device_key)
      expect(again).toEqual(second)
    })
  })
})

describe('token response', () => {
  const { registration, secret } = nightlyReport
  const Authorization = basic(registration.client_id, secret)
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  describeOnStores('The token endpoint', (stage) => {
    test.each(['text/html', 'application/xml', 'image/*;q=0'])(
      'negotiates no other form: %s',
      async (Accept) => {
        const { flow } = stage()
        const headers = { Accept, Authorization }
        expect(tokensOf(await flow.submit('/token', grant, undefined, headers)).scope).toBe('photos:read')
        expect(refusalOf(await flow.submit('/token', {}, undefined, headers))).toBe('400 invalid_request')
      },
    )

    test('answers members at the top level, none of them null', async () => {
      const { flow } = stage()
      const response = await flow.redeem(photoBook, await flow.approve(photoBook))
      expect(response.body).toEqual({
        access_token: expect.stringMatching(/^at_[\w-]{64}$/),
        token_type: 'bearer',
        expires_in: 3600,
        refresh_token: expect.stringMatching(/^rt_[\w-]{80}$/),
        scope: 'photos:read photos:print',
      })
      expect(response.headers).not.toHaveProperty('etag')
    })

    test('ignores unknown parameters, and the order of the others', async () => {
      const { flow } = stage()
      const known = Object.entries(grant).toReversed()
      const body = `resource=a&resource=b&${formOf(Object.fromEntries(known))}&audience=%FF&x[y]=z`
      const response = await flow.submit('/token', body, undefined, { Authorization })
      expect(tokensOf(response).scope).toBe('photos:read')
    })

    test.each([
      ['wrong secret', { Authorization: basic(registration.client_id, 'ünïque-secret') }],
      ['odd grant type', { Authorization }],
    ])('echoes nothing of a request that it refuses: %s [input-12]', async (_, headers) => {
      const { flow } = stage()
      const odd = { grant_type: '<ünïque-secret>', scope: 'ünïque-secret', code: 'ünïque-secret' }
      const response = await flow.submit('/token', odd, undefined, headers)
      expect(refusalOf(response)).toMatch(/^40[01] /)
      expect(response.text + JSON.stringify(response.headers)).not.toContain('secret')
    })

    test('hands out credentials of the documented sizes only, each but once', async () => {
      const { flow } = stage()
      const seen: string[] = []
      for (let turn = 0; turn < 5; turn += 1) {
        const code = await flow.approve(photoBook)
        const { accessToken, refreshToken } = tokensOf(await flow.redeem(photoBook, code))
        seen.push(code, accessToken, refreshToken)
      }
      expect(new Set(seen.map((text) => `${text.slice(0, 3)} ${text.length}`))).toEqual(
        new Set(['ac_ 67', 'at_ 67', 'rt_ 83']),
      )
      expect(new Set(seen).size).toBe(seen.length)
    })
  })
})

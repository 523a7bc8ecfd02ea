import { options } from '../../docs/examples/device-token'
import { describeOnStores } from '../support/flows/stores-of-run'

const [registration] = options.clients
if (registration === undefined) throw new Error('The example registers no client.')
const camera = { registration }

describeOnStores('The token type of docs/examples/device-token.ts', (stage) => {
  test('[TKN-2] fits in from outside: the token is good with its key alone', async () => {
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

import { randomBytes } from 'node:crypto'
import { apiKey, optionsWith } from '../../docs/examples/api-key'
import { ConfigurationError } from '../../lib/index'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const key = randomBytes(32).toString('base64url')
const anotherKey = randomBytes(32).toString('base64url')
const options = optionsWith(key)

describeOnStores('The method of docs/examples/api-key.ts', (stage) => {
  test.each([`ApiKey robot.${key}`, `apikey  robot.${key}`])(
    '[CAU-5] takes the key of a client',
    async (sent) => {
      const { flow } = stage(options)
      const { accessToken } = tokensOf(await flow.submit('/token', grant, undefined, { Authorization: sent }))
      expect((await flow.photos(accessToken)).body).toMatchObject({ clientId: 'robot' })
    },
  )

  test.each([
    ['a wrong key', `ApiKey robot.${anotherKey}`],
    ['an unknown client', `ApiKey nobody.${key}`],
    ['a client without a name', `ApiKey .${key}`],
    ['an empty key', 'ApiKey robot.'],
    ['nothing', 'ApiKey'],
    ['more than a key', `ApiKey robot.${key} x`],
    ['two keys', `ApiKey robot.${key}, ApiKey robot.${key}`],
  ])('[TER-2] refuses %s by a challenge of its own scheme', async (_, Authorization) => {
    const response = await stage(options).flow.submit('/token', grant, undefined, { Authorization })
    expect(refusalOf(response)).toBe('401 invalid_client')
    expect(response.get('WWW-Authenticate')).toBe('ApiKey realm="oauth"')
  })

  test('keeps a digest, and takes nothing else for one', () => {
    const [client] = options.clients
    expect(JSON.stringify(client)).not.toContain(key)
    for (const wrong of [key, 7, ['x']])
      expect(() =>
        stage({ ...options, clients: [{ ...client!, credentials: { [apiKey.name]: wrong } }] }),
      ).toThrow(ConfigurationError)
  })
})

import { ConfigurationError } from '../../../lib/protocol/configuration'
import { secureRandom } from '../../../lib/protocol/credential'
import { mac, macKeyOf } from '../../../lib/token-types/mac'
import { noon } from '../../support/authorization/issue-context'

const javascript: { make(options: unknown): unknown } = { make: mac }
const hosts = ['api.example.com']
const moment = { now: noon, random: secureRandom }

describe('mac', () => {
  it('is spelt in lower case in responses, and its scheme as RFC 6749 7.1 has it (TKN-2)', () => {
    expect(mac({ hosts })).toMatchObject({ name: 'mac', scheme: 'MAC' })
  })

  it('gives a key of 32 random bytes with each token, and keeps it readable with the token alone [token-30]', () => {
    const { properties, tokenData } = mac({ hosts }).issue!('at_x', moment)
    expect(properties).toEqual({
      mac_key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      mac_algorithm: 'hmac-sha-256',
    })
    expect(mac({ hosts }).issue!('at_x', moment).properties).not.toEqual(properties)
    expect(JSON.stringify(tokenData)).not.toContain(properties['mac_key'])
    const macKey = { key: properties['mac_key'], algorithm: 'hmac-sha-256', issuedAt: noon }
    expect(macKeyOf(tokenData, 'at_x')).toEqual(macKey)
    expect(() => macKeyOf(tokenData, 'at_y')).toThrow('not readable')
  })

  it('gives keys for the algorithm that is listed first', () => {
    const algorithms = ['hmac-sha-1', 'hmac-sha-256'] as const
    expect(mac({ hosts, algorithms }).issue!('at_x', moment).properties).toHaveProperty(
      'mac_algorithm',
      'hmac-sha-1',
    )
  })

  it.each([undefined, null, 7, {}, { sealedKey: '', algorithm: 'hmac-sha-256', issuedAt: 1 }])(
    'takes what is kept for damaged when it is %j',
    (tokenData) => {
      expect(() => macKeyOf(tokenData, 'at_x')).toThrow('not readable')
    },
  )

  it.each([
    [undefined, 'options must be an object.'],
    [{}, 'hosts is missing'],
    [{ hosts: [] }, 'hosts must be a list'],
    [{ hosts: ['https://api.example.com'] }, 'hosts must be a list'],
    [{ hosts: 'api.example.com' }, 'hosts must be a list'],
    [{ hosts, algorithms: [] }, 'algorithms must be a list'],
    [{ hosts, algorithms: ['md5'] }, 'algorithms must be a list'],
    [{ hosts, tolerance: 0 }, 'tolerance must be whole seconds, 1 to 300.'],
    [{ hosts, tolerance: 301 }, 'tolerance must be whole seconds, 1 to 300.'],
    [{ hosts, tolerance: 1.5 }, 'tolerance must be whole seconds, 1 to 300.'],
    [{ hosts, age: 60 }, 'age is not known here'],
  ])('cannot be made with %j', (options, message) => {
    expect(() => javascript.make(options)).toThrow(ConfigurationError)
    expect(() => javascript.make(options)).toThrow(message)
  })
})

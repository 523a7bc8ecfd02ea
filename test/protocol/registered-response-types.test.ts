import type { ConfigurationIssue } from '../../lib/protocol/configuration'
import { parseClient } from '../../lib/protocol/parse-client'
import { registration, capabilities } from '../support/authorization/client'

const responseTypes = [
  { name: 'code', grantTypes: ['authorization_code'] },
  { name: 'token', grantTypes: ['implicit'] },
  { name: 'code token', grantTypes: ['authorization_code', 'implicit'] },
]
const grantTypes = [...(capabilities.grantTypes ?? []), 'implicit']

/** A client of a server with these response types. */
function registered(grant_types: readonly string[], response_types?: readonly string[], bend: object = {}) {
  const issues: ConfigurationIssue[] = []
  const source = { ...registration, grant_types, response_types, ...bend }
  const client = parseClient(source, 'client', issues, { ...capabilities, grantTypes, responseTypes })
  return { client, problems: issues.map(({ path, message }) => `${path} ${message}`) }
}

describe('the response types of a client', () => {
  it.each([
    [['authorization_code'], ['code']],
    [['implicit'], ['token']],
    [['authorization_code', 'implicit'], ['code token']],
    [
      ['authorization_code', 'implicit', 'refresh_token'],
      ['code', 'token', 'code token'],
    ],
  ])('with the grants %j may be %j', (grants, types) => {
    const { client, problems } = registered(grants, types)
    expect({ types: client.response_types, problems }).toEqual({ types, problems: [] })
  })

  it('are kept by the names that the server has for them (AUZ-5)', () => {
    const { client } = registered(['authorization_code', 'implicit'], ['token code'])
    expect(client.response_types).toEqual(['code token'])
  })

  it.each<[readonly string[], readonly string[] | undefined, readonly string[]]>([
    [
      ['implicit'],
      ['code token'],
      ['client.grant_types must hold authorization_code, because response_types holds code token.'],
    ],
    [
      ['authorization_code'],
      ['code', 'code token'],
      ['client.grant_types must hold implicit, because response_types holds code token.'],
    ],
    [
      ['implicit'],
      undefined,
      ['client.response_types must hold token or code token, because grant_types holds implicit.'],
    ],
    [
      ['authorization_code', 'implicit'],
      ['token'],
      ['client.response_types must hold code or code token, because grant_types holds authorization_code.'],
    ],
  ])('with the grants %j cannot be %j', (grants, types, problems) => {
    expect(registered(grants, types).problems).toEqual(problems)
  })

  it.each(['public', 'confidential'])(
    '[REG-7] need a redirection URI where a %s client uses the implicit grant',
    (client_type) => {
      const bend = { client_type, redirect_uris: [] }
      expect(registered(['implicit'], ['token'], bend).problems).toEqual([
        expect.stringMatching(/^client\.redirect_uris must hold at least one URI/),
      ])
    },
  )
})

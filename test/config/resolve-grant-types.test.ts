import { mistakesWith } from '../support/rooms/mistakes'

const named = (name: string) => ({ name, parameters: [], handle: async () => ({}) })

describe('the option grantTypes', () => {
  it.each(['https://a.example/grants/x', 'urn:ietf:params:oauth:grant-type:x', 'password', 'x:y'])(
    'takes the name %s',
    (name) => {
      expect(mistakesWith({ grantTypes: [named(name)] })).toEqual([])
    },
  )

  it.each(['x', 'grants/x', '/x', 'https://', 'urn:é', 'urn:a b', 'PASSWORD', '__proto__', 'constructor'])(
    'refuses the name %s, which is no absolute URI (TOK-10)',
    (name) => {
      expect(mistakesWith({ grantTypes: [named('urn:x:1'), named(name)] })).toEqual([
        {
          path: 'grantTypes[1].name',
          message: `is "${name}", but must be an absolute URI, such as https://example.com/oauth/grants/voucher.`,
        },
      ])
    },
  )

  it.each(['authorization_code', 'refresh_token', 'client_credentials', 'implicit', 'urn:x:1'])(
    'refuses the name %s, which is taken',
    (name) => {
      expect(mistakesWith({ grantTypes: [named('urn:x:1'), named(name)] })).toEqual([
        { path: 'grantTypes[1].name', message: `is "${name}", which another grant type has already.` },
      ])
    },
  )
})

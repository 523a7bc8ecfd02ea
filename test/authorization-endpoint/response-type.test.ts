import { ResponseTypes, type ResponseType } from '../../lib/authorization-endpoint/response-types'

const typeOf = (name: string): ResponseType => ({
  name,
  grantTypes: [],
  mode: 'query',
  approve: () => {
    throw new Error('Not asked for here.')
  },
})
const code = typeOf('code')
const three = typeOf('code id_token token')
const types = new ResponseTypes([code, three])

describe('ResponseTypes', () => {
  it('knows a type by its name', () => {
    expect(types.get('code')).toBe(code)
  })

  it.each([
    'code id_token token',
    'code token id_token',
    'id_token code token',
    'id_token token code',
    'token code id_token',
    'token id_token code',
  ])('takes the values in any order: %s (AUZ-5)', (name) => {
    expect(types.get(name)).toBe(three)
  })

  it('takes any order in a registered name, too', () => {
    const turned = typeOf('token code')
    expect(new ResponseTypes([turned]).get('code token')).toBe(turned)
  })

  it.each([
    '',
    ' ',
    'Code',
    'CODE',
    ' code',
    'code ',
    'code code',
    'token',
    'code token',
    'code  id_token token',
    'code\tid_token\ttoken',
    'code,id_token,token',
    'code id_token token token',
    'constructor',
    '__proto__',
    'toString',
  ])('does not know %j', (name) => {
    expect(types.get(name)).toBeUndefined()
  })
})
